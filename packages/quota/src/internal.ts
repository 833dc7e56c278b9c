/**
 * What only our own packages share. It may change in any version, so they need exactly this one.
 *
 * @module
 */
export { adaptiveConstants } from './adaptive/constants.ts'
export type { SubjectSettingsPatch } from './engine/admin/subject-admin.ts'
export type { DeepPartial } from './engine/admin/write-options.ts'
export type { SyncQuotaOptions } from './engine/engine.ts'
export type { FailurePolicy } from './engine/options.ts'
export type { NearLimit } from './engine/requests.ts'
export type { Fault } from './errors/quota-error.ts'
export { otherVersion } from './errors/quota-error.ts'
export { errorText, kindOf } from './errors/shown.ts'
export {
  ANSWER_HANDLERS,
  answerByApplication,
  answerHandlerChecks,
  answerHandlerOf,
  noResponse,
} from './http/answers.ts'
export type { NamedFields } from './http/headers.ts'
export { MeteredRequest } from './http/metered-request.ts'
export type { PendingResponse } from './http/node/response-gate.ts'
export { LOCALES } from './http/texts.ts'
export { expressProxyFault, fastifyProxyFault, type ProxyFault, QUOTA_WARNING_CODES } from './http/warnings.ts'
export { watchedStream } from './http/watched-stream.ts'
export type { MemorySettings } from './memory/memory-settings.ts'
export { isNamedRecord } from './memory/named-tables.ts'
export {
  aClock,
  aFunction,
  type Check,
  type Checks,
  group,
  having,
  listOf,
  oneOf,
  optional,
  tableOf,
  textLike,
  where,
  wholeNumber,
  withDefault,
} from './options/checks.ts'
export { nearest } from './options/faults.ts'
export { aLogger } from './options/logger.ts'
export { optionsParser, refusedOptions } from './options/options-parser.ts'
export { calling, isPromiseLike, onAbort } from './options/promise.ts'
export type { CountingOf } from './policy/define-policy.ts'
export type { LimitSource } from './policy/limits.ts'
export {
  type GivenLimit,
  type LayerDefinition,
  type LimitNumber,
  type LimitRule,
  operationOf,
} from './policy/policy.ts'
export {
  initialSettings,
  MODES,
  type Mode,
  type SubjectAnchor,
  type Threshold,
  type Versioned,
} from './policy/settings.ts'
export { ofUnit, type UnitsOf, unitNames } from './policy/units.ts'
export { MAX_LIMIT } from './policy/values.ts'
export { usedLayers } from './scratch/scratch.ts'
export type { Settled } from './store/hold-port.ts'
export {
  amountBack,
  answerToKeep,
  commitAnswer,
  extendedEnd,
  grownCharge,
  grownCosts,
  type HoldFactsOf,
  holdOutcome,
  type IdFacts,
  isToSettle,
  planSettlement,
  repeatedTake,
  settledAmounts,
} from './store/hold-rules.ts'
export type { ReadWithin, SettingsReader } from './store/settings-store.ts'
export { keyName, layerKey, type Owner, ownerOf, storeSchema } from './store/subjects.ts'
export { instantOf } from './time/clock.ts'
export { isoText } from './time/zoned.ts'
export {
  type Amounts,
  amountsIn,
  type CellDefinition,
  cellOfIdentity,
  cellsIn,
  hash32,
  inRowOrder,
  named,
  SLOTS,
  slotsCell,
  windowCell,
} from './windows/identity.ts'
export type { BucketWindow } from './windows/kinds/bucket.ts'
export type { CalendarAnchor, CalendarPeriod, CalendarWindow } from './windows/kinds/calendar.ts'
export { PERIOD_NUMBERS, periodAt } from './windows/kinds/kind.ts'
export { millisecondsOf, type RollingWindow } from './windows/kinds/rolling.ts'
export type { WindowDefinition } from './windows/kinds.ts'
export { Instant, Layout, layoutOf, nth, RowLayout } from './windows/layout.ts'
export {
  add,
  type Cells,
  CLOSED,
  clearRow,
  close,
  countIn,
  GRACE_MS,
  MAX_AHEAD_MS,
  MAX_USED,
  NOT_OPEN,
  reanchor,
  refund,
  roll,
  startIn,
  usedIn,
  view,
} from './windows/row.ts'
