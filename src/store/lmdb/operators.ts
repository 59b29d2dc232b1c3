/** The people who operate the service, in a table of their own, by name. */

import type { OperatorStore } from "../../memory/ports.ts";
import type { OperatorRecord } from "../../memory/records.ts";
import { audited } from "./audit.ts";
import { packJson } from "./records.ts";
import type { Write } from "./writer.ts";

interface OperatorAccess {
  /** In the order of their names. */
  list(): OperatorRecord[];
  run<T>(write: Write<T>): Promise<T>;
}

export function operatorsIn({ list, run }: OperatorAccess): OperatorStore {
  return {
    list,
    add(record, audit) {
      const write: Write<boolean> = (writer) => {
        const key = Buffer.from(record.name);
        if (writer.has("operators", key)) return false;
        writer.put("operators", key, packJson(record));
        return true;
      };
      return run(audited(write, audit));
    },
    remove(name, audit) {
      const write: Write<boolean> = (writer) => {
        const key = Buffer.from(name);
        if (!writer.has("operators", key)) return false;
        writer.remove("operators", key);
        return true;
      };
      return run(audited(write, audit));
    },
  };
}
