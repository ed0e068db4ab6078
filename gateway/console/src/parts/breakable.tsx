/** A long name, such as an event type, that may wrap after a dot or an underscore. */
export function Breakable({ text }: { text: string }) {
  return <>{text.split(/(?<=[._])/).map((part, index) => (index === 0 ? part : [<wbr key={index} />, part]))}</>;
}
