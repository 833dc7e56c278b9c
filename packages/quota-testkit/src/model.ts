/**
 * A reference model to compare a quota engine with: the whole engine ({@link QuotaModel}), its counters ({@link
 * ModelCounters}), their windows ({@link ModelWindows}), and a store of them ({@link modelStore}).
 *
 * @module
 */
export type { ModelNumbers } from './model/effective-limit.ts'
export type { ModelCalendar } from './model/model-cells.ts'
export type { ModelAmount, ModelCost } from './model/model-costs.ts'
export { copyOf, ModelCounters, type ModelId, type ModelLimit, type ModelState } from './model/model-counters.ts'
export type { ModelDecision } from './model/model-decision.ts'
export type { ModelChange } from './model/model-documents.ts'
export type {
  ModelAnswer,
  ModelCommit,
  ModelOptions,
  ModelRequest,
  ModelReservation,
  ModelReserveRequest,
} from './model/model-requests.ts'
export { modelStore } from './model/model-store.ts'
export { type ModelSpan, type ModelWindow, ModelWindows } from './model/model-windows.ts'
export { QuotaModel } from './model/quota-model.ts'
export { utcCalendar } from './model/utc-calendar.ts'
