/**
 * The answers of the service, with the fields of the HTTP interface: the types of the schemas. What npm publishes, and the
 * Python client, have them written out, so that they need no other package (scripts/answer-types.ts).
 */

import type * as audit from "./audit-schemas.ts";
import type * as erasure from "./erasure-schemas.ts";
import type * as keys from "./key-schemas.ts";
import type * as labels from "./label-schemas.ts";
import type * as life from "./life-schemas.ts";
import type * as project from "./project-schemas.ts";
import type * as wire from "./schemas.ts";
import type { Static } from "./type.ts";

/** Whose a fact is. */
export type PlaceKind = Static<typeof wire.PlaceKind>;
/** Where the facts of a label go. */
export type LabelScope = Static<typeof wire.ScopeName>;
/** Where a value comes from: the person said it, an agent concluded it, or it was read somewhere. */
export type FactOrigin = Static<typeof wire.FactOrigin>;
export type CarriedFact = Static<typeof wire.CarriedFact>;
/** The fact that was there before. */
export type PreviousFact = Static<typeof wire.PreviousFact>;
export type EncodeAnswer = Static<typeof wire.EncodeAnswer>;
/** With `details`. */
export type WrittenAnswer = Static<typeof wire.WrittenAnswer>;
export type BatchFact = Static<typeof wire.BatchFact>;
export type BatchAnswer = Static<typeof wire.BatchAnswer>;
/** With `details`. */
export type WrittenFact = Static<typeof wire.WrittenFact>;
/** With `details`. */
export type WrittenBatchAnswer = Static<typeof wire.WrittenBatchAnswer>;
export type TokenCounts = Static<typeof wire.TokenCounts>;
export type Carriers = Static<typeof wire.Carriers>;
export type OldFact = Static<typeof wire.OldFact>;
export type EndingFact = Static<typeof wire.EndingFact>;
export type ContextAnswer = Static<typeof wire.ContextAnswer>;
/** With `details`. */
export type DetailedContextAnswer = Static<typeof wire.DetailedContextAnswer>;
export type DecodeAnswer = Static<typeof wire.DecodeAnswer>;
/** With `details`. */
export type DetailedDecodeAnswer = Static<typeof wire.DetailedDecodeAnswer>;
/** With `details`. */
export type DetailedModelDecodeAnswer = Static<typeof wire.DetailedModelDecodeAnswer>;
export type FlushAnswer = Static<typeof wire.FlushAnswer>;
export type StoredFact = Static<typeof wire.StoredFact>;
export type FactsAnswer = Static<typeof wire.FactsAnswer>;
export type ForgetAnswer = Static<typeof wire.ForgetFactAnswer>;
export type AuditAuthor = Static<typeof audit.AuditAuthor>;
export type AuditSubject = Static<typeof audit.AuditSubject>;
/** Who has changed what, and when. */
export type AuditedChange = Static<typeof audit.AuditedChange>;
/** The newest first. */
export type AuditAnswer = Static<typeof audit.AuditAnswer>;
/** What was erased, under the service's signature. */
export type Receipt = Static<typeof erasure.Receipt>;
/** With `details`. */
export type ReceiptedErasureAnswer = Static<typeof erasure.ReceiptedErasureAnswer>;
export type StatusAnswer = Static<typeof wire.StatusAnswer>;
/** What has become of a fact since its block was made; `unknown_here`: nothing of it is kept. */
export type ReadMark = Static<typeof wire.ReadMark>;
export type ReadFact = Static<typeof wire.ReadFact>;
export type ReadAnswer = Static<typeof wire.ReadAnswer>;
export type UsageAnswer = Static<typeof keys.UsageAnswer>;
/** A value that a fact has, or had. */
export type FactRevision = Static<typeof life.FactRevision>;
export type HistoryAnswer = Static<typeof life.HistoryAnswer>;
/** A label and where its fact is. */
export type PlacedLabel = Static<typeof life.PlacedLabel>;
export type FactChange = Static<typeof life.FactChange>;
export type DayCount = Static<typeof keys.DayCount>;
/** Of days in UTC, as YYYY-MM-DD; those without a write are left out. */
export type UsageDaysAnswer = Static<typeof keys.UsageDaysAnswer>;
/** What changed for a user, the newest first. */
export type ChangesAnswer = Static<typeof life.ChangesAnswer>;
export type MoveProjectAnswer = Static<typeof life.MoveProjectAnswer>;
export type RolledBackFact = Static<typeof life.RolledBackFact>;
export type RollbackAnswer = Static<typeof life.RollbackAnswer>;
export type ListedUser = Static<typeof life.ListedUser>;
export type UsersAnswer = Static<typeof life.UsersAnswer>;
/** A fact that was taken along when a project was shared, or would be. */
export type TakenFact = Static<typeof project.TakenFact>;
/** A shared project, and what of a member was moved to it. */
export type SharedProjectAnswer = Static<typeof project.SharedProjectAnswer>;
/** A shared project. */
export type ProjectAnswer = Static<typeof project.ProjectAnswer>;
export type ListedProject = Static<typeof project.ListedProject>;
export type ProjectsAnswer = Static<typeof project.ProjectsAnswer>;
export type ErasedProjectAnswer = Static<typeof project.ErasedProjectAnswer>;
/** What an erased user had written in a shared project, and stays there without the user's name. */
export type LeftInProject = Static<typeof erasure.LeftInProject>;
/** One of the 40 labels; with a key, a label of the account. */
export type ListedLabel = Static<typeof labels.ListedLabel>;
/** A label of an account. */
export type LabelAnswer = Static<typeof labels.LabelAnswer>;
export type ChannelsAnswer = Static<typeof labels.ChannelsAnswer>;
export type StrictAnswer = Static<typeof labels.StrictAnswer>;
export type LabelSetName = Static<typeof labels.LabelSetName>;
export type SetLabel = Static<typeof labels.SetLabel>;
/** Labels for a purpose. */
export type LabelSet = Static<typeof labels.LabelSet>;
export type LabelSetsAnswer = Static<typeof labels.LabelSetsAnswer>;
export type LabelSetAnswer = Static<typeof labels.LabelSetAnswer>;
/** A short-lived token for one user, sent as a key is. */
export type TokenAnswer = Static<typeof keys.TokenAnswer>;
export type FoundFact = Static<typeof life.FoundFact>;
/** Facts by words, the best first. */
export type FindAnswer = Static<typeof life.FindAnswer>;
