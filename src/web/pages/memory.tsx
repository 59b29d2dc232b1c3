/**
 * The memory page, for a person: what is remembered about them, who wrote it and when, and every way to change it. One
 * signs in with a key, which stays in this page's memory, or comes by the link of `sideband open`, whose page has an
 * address of its own and a cookie that scripts cannot read. The address says whose memory it is, after the #.
 */

import { useEffect, useState } from "preact/hooks";
import type { UsageAnswer } from "../../contract/answers.ts";
import { type GrantCalls, grantCalls } from "../api/grants.ts";
import { type Memory, type PageClient, pageClient } from "../api/memory.ts";
import { forgetFolds } from "../memory/folds.ts";
import { MemoryView } from "../memory/memory-view.tsx";
import { UserPicker } from "../memory/user-picker.tsx";
import { Button } from "../parts/fields.tsx";
import { memoryHash } from "../parts/format.ts";
import { KeyForm } from "../parts/key-form.tsx";
import { ErrorNotice, Loading, mountPage } from "../parts/layout.tsx";

/** What stands before the page's own address: only on the page of `sideband open` is there anything. */
const BASE = location.pathname.replace(/\/memory$/, "");

interface MemoryVisitor {
  readonly api: PageClient;
  readonly grants: GrantCalls | undefined;
  readonly usage: UsageAnswer;
}

function MemoryPage() {
  const [visitor, setVisitor] = useState<MemoryVisitor>();
  const [error, setError] = useState<unknown>();
  const enter = async (api: PageClient, grants?: GrantCalls) =>
    setVisitor({ api, grants, usage: await api.usage() });
  useEffect(() => {
    if (BASE !== "") enter(pageClient({ base: BASE })).catch(setError);
  }, []);
  const leave = () => {
    forgetFolds();
    setVisitor(undefined);
  };
  if (visitor !== undefined) return <ChosenMemory visitor={visitor} onLeave={leave} />;
  if (BASE === "")
    return <KeyForm button="Open the memory" onKey={(key) => enter(pageClient({ key }), grantCalls(key))} />;
  if (error === undefined) return <Loading tall />;
  return (
    <>
      <ErrorNotice error={error} />
      <p>
        This page works in the browser that the link of <code>sideband open</code> was opened in, as long as
        that command runs. Run it again for a new link.
      </p>
    </>
  );
}

function ChosenMemory({
  visitor,
  onLeave,
}: {
  readonly visitor: MemoryVisitor;
  readonly onLeave: () => void;
}) {
  const { api, grants, usage } = visitor;
  const bound = usage.user;
  const [memory, setMemory] = useState<Memory | undefined>(() => memoryIn(location.hash, bound));
  const choose = (chosen: Memory | undefined) => {
    history.replaceState(null, "", `${location.pathname}${chosen === undefined ? "" : memoryHash(chosen)}`);
    setMemory(chosen);
  };
  const mayChange = bound === undefined;
  const leave = BASE === "" ? onLeave : undefined;
  if (memory === undefined) {
    const onUser = (userId: string) => choose({ userId, project: undefined });
    return (
      <>
        <div class="memory-bar">
          <p>
            Account <b>{usage.account}</b> {usage.access === "read" && <span class="tag">reads only</span>}
          </p>
          {leave !== undefined && <Button class="small" onClick={leave} text="Forget the key" />}
        </div>
        <UserPicker api={api} canWrite={usage.access !== "read"} onUser={onUser} />
      </>
    );
  }
  return (
    <MemoryView
      key={memoryHash(memory)}
      api={api}
      grants={grants}
      usage={usage}
      memory={memory}
      onMemory={choose}
      onOther={mayChange ? () => choose(undefined) : undefined}
      onLeave={leave}
    />
  );
}

function memoryIn(hash: string, bound: string | undefined): Memory | undefined {
  const parts = new URLSearchParams(hash.slice(1));
  const userId = bound ?? parts.get("user") ?? "";
  const isHere = userId !== "" && (bound === undefined || parts.get("user") === bound);
  const project = isHere ? (parts.get("project") ?? "") : "";
  return userId === "" ? undefined : { userId, project: project === "" ? undefined : project };
}

mountPage(<MemoryPage />);
