import { Argument, type Command } from 'commander';
import type { ApiSession } from '../session.ts';

const HELP = `
Examples:
  source <(truckroll completion bash)                                    # in ~/.bashrc
  source <(truckroll completion zsh)                                     # in ~/.zshrc, after compinit
  truckroll completion fish > ~/.config/fish/completions/truckroll.fish`;

/** Each asks \`truckroll complete --\` for the words that fit behind those that are typed. */
const SCRIPTS: Readonly<Record<string, string>> = {
  bash: `_truckroll() {
  local IFS=$'\\n'
  COMPREPLY=($(truckroll complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
}
complete -o default -F _truckroll truckroll`,
  zsh: `_truckroll() {
  local -a found
  found=("\${(@f)$(truckroll complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  compadd -a found
}
compdef _truckroll truckroll`,
  fish: `complete -c truckroll -f -a '(truckroll complete -- (commandline -opc)[2..] (commandline -ct) 2>/dev/null)'`,
};

export function register(program: Command, session: ApiSession): void {
  program
    .command('completion')
    .description('Print a script that completes commands in bash, zsh or fish.')
    .addArgument(new Argument('<shell>', 'which one').choices(Object.keys(SCRIPTS)))
    .addHelpText('after', HELP)
    .action((shell: string) => void session.io.stdout.write(`${SCRIPTS[shell] as string}\n`));
}
