/**
 * What agents are told about keeping facts: when a session starts, when its context is compacted, and when a long
 * session ends. No model of ours decides what is worth keeping; the agent's own does.
 */

/** For the start of a session, and for servers and plugins that describe their tools. */
export const REMEMBER_PROMPT =
  "Sideband keeps short facts about the user and the work beyond this conversation, exactly as written. " +
  "Call remember when the user states or changes something that will still matter next week: who they are (USER), " +
  "how they like things (PREF), what the project is and must be (PROJ), decisions, deadlines and what comes next " +
  "(TASK). Use a label that is there, or make one where none fits, one fact a label: PEOPLE.grace, REMINDER.dentist. " +
  "Call recall before you ask for something that may be known. " +
  "Never store secrets, nor what stands in <private> marks.";

const LIST_HEADING = "To remember";

/** For the summary of a compaction. */
export const LIST_BEFORE_COMPACTION =
  `End the summary with a list headed "${LIST_HEADING}": each lasting fact that the user said or decided in this ` +
  "conversation and that is not yet stored with the remember tool, one a line as LABEL=value. " +
  "No secrets, and nothing from <private> parts. Leave the list out if there is none.";

/** For the first context after a compaction. */
export const STORE_AFTER_COMPACTION =
  `This context was just compacted. If the summary has lasting facts that are not in the list below (see its part ` +
  `"${LIST_HEADING}"), store them now with remember, once.`;

/** By these words a transcript shows that the agent was asked: a host may spell what is not a letter in another way. */
export const ASKED_BEFORE_END = "Sideband asks once in this session";

/** For the end of a long session. */
export const STORE_BEFORE_END =
  `${ASKED_BEFORE_END}: store with remember what the user said or decided that is lasting and not yet stored. ` +
  "No secrets, and nothing from <private> parts. If there is nothing, finish without a comment.";

/** By these words a transcript shows that memory was turned off. */
export const TURNED_OFF = "Sideband is off for the rest of this session";

/** For a model whose person turns memory off in the middle of a session. */
export const TURN_OFF_PROMPT = `${TURNED_OFF}. Go on as if nothing were remembered about me: use no fact of its section, and call none of its tools.`;

/** For the turn that OpenClaw gives an agent before a compaction. */
export const STORE_BEFORE_COMPACTION =
  "The context is about to be compacted. Store with sideband_remember what the user said or decided that is lasting " +
  "and not yet stored. No secrets, and nothing from <private> parts. Write no file. Then answer NO_REPLY and nothing else.";
