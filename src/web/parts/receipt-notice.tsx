/** What an erasure has taken and what goes on after it, with its receipt as a file: the service keeps none. */

import type { Receipt, ReceiptedErasureAnswer } from "../../contract/answers.ts";
import { Button } from "./fields.tsx";
import { countText, minuteText } from "./format.ts";

export function ReceiptNotice({
  answer: { receipt, left = [] },
}: {
  readonly answer: ReceiptedErasureAnswer;
}) {
  const { user_id: user, project, facts, earlier, labels, places, connections, erased_at } = receipt;
  const taken = [
    `${countText(facts, "fact")} and ${countText(earlier, "earlier value")}`,
    `${countText(labels, "label")} at ${countText(places, "place")}`,
    ...(project === null ? [countText(connections, "connected application")] : []),
  ];
  const save = () =>
    saveFile(`receipt-${user}-${erased_at}.json`, "application/json", [
      `${JSON.stringify(receipt, null, 2)}\n`,
    ]);
  return (
    <div class="notice good" role="status">
      <b>
        {project === null ? `Everything of ${user} is erased` : `What ${user} had in ${project} is erased`}
      </b>
      : {taken.join(", ")}, {minuteText(erased_at)} UTC.
      <ul>
        {[...left.map(leftText), ...goesOn(receipt)].map((text) => (
          <li key={text}>{text}</li>
        ))}
      </ul>
      <p class="buttons">
        <Button class="small" onClick={save} text="Save the receipt" />
      </p>
    </div>
  );
}

function leftText({ project, values }: NonNullable<ReceiptedErasureAnswer["left"]>[number]): string {
  return `${countText(values, "value")} of the team in ${project} ${values === 1 ? "stays" : "stay"}, without the name.`;
}

/** What the receipt says of what is left elsewhere. */
function goesOn({ user_id: user, keys_left, tokens_until, backups_until }: Receipt): string[] {
  return [
    backups_until === null
      ? "The service makes no backups of its own that hold it."
      : `The service's backups hold it until ${minuteText(backups_until)} UTC at the latest; one that is restored forgets it again.`,
    `A token that was made before counts until ${minuteText(tokens_until)} UTC at the latest, and could write again.`,
    ...(keys_left === 0 ? [] : [`${countText(keys_left, "key")} for ${user} alone can write until revoked.`]),
    "The service keeps no receipt: “sideband verify-receipt” checks the one that you save.",
  ];
}

/**
 * Gives the reader a file that the page has made.
 * @param name of the file; what is not usual in one is replaced
 */
export function saveFile(name: string, type: string, parts: readonly string[]): void {
  const url = URL.createObjectURL(new Blob([...parts], { type }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name.replace(/[^\w.@-]+/g, "-");
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
