/** Turns the errors of parseArgs (node:util) into one line. Its own texts give advice that does not fit our options. */

const UNKNOWN = /^Unknown option '(-[^']*)'(\. To specify a positional)?/;
const NO_VALUE = /^Option '(--[\w-]+)( <value>)?' argument (missing|is ambiguous)/;

export function optionErrorText({ message }: Error): string {
  const unknown = UNKNOWN.exec(message);
  if (unknown !== null) {
    const [, name, takesArguments] = unknown;
    // No option of ours has one dash: more likely it is an argument, such as -5.
    const isArgument = takesArguments !== undefined && !name.startsWith("--");
    return `there is no option ${name}${isArgument ? '; put an argument that begins with "-" last, after --' : ""}`;
  }
  const noValue = NO_VALUE.exec(message);
  if (noValue !== null) {
    const [, name, , why] = noValue;
    const advice = why === "missing" ? "" : `; write one that begins with "-" as ${name}=VALUE`;
    return `${name} needs a value${advice}`;
  }
  return message.split("\n")[0];
}
