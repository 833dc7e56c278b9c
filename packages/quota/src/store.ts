/**
 * For authors of stores: the ports with their contracts, and `Scratch`, which does the arithmetic.
 *
 * @module
 */
export type { WindowStates } from './decision/decide.ts'
export type { NamedCell, NamedHoldRow, NamedRecord } from './memory/named-tables.ts'
export type { Quotas } from './policy/limits.ts'
export {
  type IdPlace,
  idPlaces,
  type RowPlace,
  type RowRequest,
  rowPlaces,
  Scratch,
} from './scratch/scratch.ts'
export type {
  AsyncHolds,
  EndedHold,
  ExtendRequest,
  GrowRequest,
  HoldOptions,
  HoldRecord,
  HoldRef,
  HoldReply,
  ListHoldsReply,
  ListHoldsRequest,
  Overrun,
  SettleHoldOutcome,
  SettleHoldReply,
  SettleHoldRequest,
  SweepReply,
  SyncHolds,
} from './store/hold-port.ts'
export {
  type Answer,
  type AsyncCounters,
  type AsyncStore,
  type Counters,
  isNotDone,
  notDone,
  type QuotaStore,
  type ReadReply,
  type ReadRequest,
  type ResetRequest,
  type SettleRequest,
  type StoreAbilities,
  type SyncCounters,
  type SyncStore,
  type TakeOutcome,
  type TakeReply,
  type TakeRequest,
} from './store/quota-store.ts'
export { Breaker, Deadline, Deadlines, InFlight } from './store/server-calls.ts'
export {
  type AsyncSettingsStore,
  newRevision,
  type SettingsChange,
  type SettingsStore,
  type StoredDocument,
  type StoreWriteOptions,
  type SyncSettingsStore,
  type WriteReply,
} from './store/settings-store.ts'
export type { LayerSchema, ReservationId, StoreSchema, SubjectKeys } from './store/subjects.ts'
export { systemClock } from './time/clock.ts'
export type { CellSchema } from './windows/identity.ts'
