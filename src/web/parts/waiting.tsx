/** What stands in a panel until its content is there: a word on what is being done, in about the room that it will take. */

export function Waiting({ what, tall }: { readonly what: string; readonly tall?: boolean }) {
  return (
    <p class={tall ? "waiting tall" : "waiting"} role="status">
      {what} …
    </p>
  );
}
