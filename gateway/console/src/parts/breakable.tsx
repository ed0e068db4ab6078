/** A name that may go on in the next line after a dot or an underscore, as those of event types are long. */
export function Breakable({ text }: { text: string }) {
  return <>{text.split(/(?<=[._])/).map((part, index) => (index === 0 ? part : [<wbr key={index} />, part]))}</>;
}
