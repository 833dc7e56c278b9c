/**
 * The types of an engine for callers. If a policy doesn't name units, they count tokens. Internal code uses the same
 * types for any policy.
 *
 * @module
 */
import type * as decision from '../decision/decision.ts'
import type * as policy from '../policy/policy.ts'
import type * as settings from '../policy/settings.ts'
import type { Counting, OneUnit } from '../policy/units.ts'
import type * as holdsadmin from './admin/holds-admin.ts'
import type * as settingsadmin from './admin/settings-admin.ts'
import type * as subjectadmin from './admin/subject-admin.ts'
import type * as createquota from './engine.ts'
import type * as events from './events.ts'
import type * as options from './options.ts'
import type * as quota from './quota.ts'
import type * as requests from './requests.ts'

export type AdmittedDecision<C extends Counting = OneUnit> = decision.AdmittedDecision<C>
export type Decision<C extends Counting = OneUnit> = decision.Decision<C>
export type RefusedDecision<C extends Counting = OneUnit> = decision.RefusedDecision<C>
export type UncountedWindow<C extends Counting = OneUnit> = decision.UncountedWindow<C>
export type Violation<C extends Counting = OneUnit> = decision.Violation<C>
export type WindowStatus<C extends Counting = OneUnit> = decision.WindowStatus<C>
export type QuotaHolds<C extends Counting = OneUnit> = holdsadmin.QuotaHolds<C>
export type QuotaSubjects<C extends Counting = OneUnit> = subjectadmin.QuotaSubjects<C>
export type SubjectOptions<C extends Counting = OneUnit> = subjectadmin.SubjectOptions<C>
export type SubjectSettingsPatch<C extends Counting = OneUnit> = subjectadmin.SubjectSettingsPatch<C>
export type ResetOptions<C extends Counting = OneUnit> = requests.ResetOptions<C>
export type StatusOptions<C extends Counting = OneUnit> = requests.StatusOptions<C>
export type SubjectSettings<C extends Counting = OneUnit> = settings.SubjectSettings<C>
export type VersionedSubjectSettings<C extends Counting = OneUnit> = settings.VersionedSubjectSettings<C>
export type QuotaSettings<C extends Counting = OneUnit> = settingsadmin.QuotaSettings<C>
export type SyncQuotaOptions<
  Operation extends string = string,
  C extends Counting = OneUnit,
> = createquota.SyncQuotaOptions<Operation, C>
export type QuotaEvents<C extends Counting = OneUnit> = events.QuotaEvents<C>
export type QuotaOptions<Operation extends string = string, C extends Counting = OneUnit> = options.QuotaOptions<
  Operation,
  C
>
export type Quota<Operation extends string = string, C extends Counting = OneUnit> = quota.Quota<Operation, C>
export type QuotaInTransaction<
  Operation extends string = string,
  C extends Counting = OneUnit,
> = quota.QuotaInTransaction<Operation, C>
export type SyncQuota<Operation extends string = string, C extends Counting = OneUnit> = quota.SyncQuota<Operation, C>
export type CommitResult<C extends Counting = OneUnit> = requests.CommitResult<C>
export type HeldReservation<C extends Counting = OneUnit> = requests.HeldReservation<C>
export type Hold<C extends Counting = OneUnit> = requests.Hold<C>
export type NearLimit<C extends Counting = OneUnit> = requests.NearLimit<C>
export type QuotaRequest<Operation extends string = string, C extends Counting = OneUnit> = requests.QuotaRequest<
  Operation,
  C
>
export type QuotaStatus<C extends Counting = OneUnit> = requests.QuotaStatus<C>
export type Reservation<C extends Counting = OneUnit> = requests.Reservation<C>
export type ReserveRequest<Operation extends string = string, C extends Counting = OneUnit> = requests.ReserveRequest<
  Operation,
  C
>
export type ResumedReservation<C extends Counting = OneUnit> = requests.ResumedReservation<C>
export type RunResult<T, C extends Counting = OneUnit> = requests.RunResult<T, C>
export type SyncReservation<C extends Counting = OneUnit> = requests.SyncReservation<C>
export type Policy<Operation extends string = string, C extends Counting = OneUnit> = policy.Policy<Operation, C>
export type Settings<C extends Counting = OneUnit> = settings.Settings<C>
export type VersionedSettings<C extends Counting = OneUnit> = settings.VersionedSettings<C>
export type EmptyReservation<C extends Counting = OneUnit> = requests.EmptyReservation<C>
export type HeldWindowStatus<C extends Counting = OneUnit> = requests.HeldWindowStatus<C>
export type HoldEnd<C extends Counting = OneUnit> = requests.HoldEnd<C>
export type QuotaOverrun<C extends Counting = OneUnit> = requests.QuotaOverrun<C>
export type RefusedReservation<C extends Counting = OneUnit> = requests.RefusedReservation<C>
export type RepeatedReservation<C extends Counting = OneUnit> = requests.RepeatedReservation<C>
export type ReservationCalls<C extends Counting = OneUnit> = requests.ReservationCalls<C>
export type SettingsInForce<C extends Counting = OneUnit> = settingsadmin.SettingsInForce<C>
export type SettingsUpdate<C extends Counting = OneUnit> = settingsadmin.SettingsUpdate<C>
export type OperationDefinition<C extends Counting = OneUnit> = policy.OperationDefinition<C>
export type Threshold<C extends Counting = OneUnit> = settings.Threshold<C>
export type QuotaListener<E extends events.QuotaEvent, C extends Counting = OneUnit> = events.QuotaListener<E, C>
