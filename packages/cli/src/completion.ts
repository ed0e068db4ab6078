import type { Command } from 'commander';

/** Words that may stand in place of the last one, which may be empty or half typed. */
export function candidates(program: Command, words: readonly string[]): string[] {
  const typed = words.at(-1) ?? '';
  let command = program;
  let option: Command['options'][number] | undefined;
  for (const word of words.slice(0, -1)) {
    if (word.startsWith('-')) {
      option = [...command.options, ...program.options].find(({ long, short }) => word === long || word === short);
    } else if (option === undefined || (!option.required && !option.optional)) {
      command = command.commands.find((each) => each.name() === word) ?? command;
      option = undefined;
    } else if (!option.variadic) option = undefined;
  }
  const takes = option !== undefined && (option.required || option.optional);
  if (takes && !typed.startsWith('-')) return (option?.argChoices ?? []).filter((each) => each.startsWith(typed));
  const longs = [...command.options, ...program.options].map(({ long }) => long ?? '');
  const choices = command.registeredArguments.flatMap(({ argChoices }) => argChoices ?? []);
  const fitting = typed.startsWith('-') ? [...longs, '--help'] : [...command.commands.map((each) => each.name()), ...choices];
  return [...new Set(fitting)].filter((each) => each !== '' && each.startsWith(typed));
}
