/** The labels of an account that has none of its own, as the service answers them. For where there is no store to ask. */

import type { ChannelsAnswer } from "../contract/answers.ts";
import { labelView } from "../http/routes/account.ts";
import { STANDARD_LABELS } from "../memory/labels.ts";

export function standardChannels(): ChannelsAnswer {
  return { channels: STANDARD_LABELS.all.map(labelView), free: STANDARD_LABELS.free };
}
