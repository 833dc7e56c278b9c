import type { QuotaStore } from '@scoregw/quota/store'
import type { Decider } from '../deciders/decider.ts'
import { NEW_SUBJECTS } from '../traffic/attacks.ts'
import { ORDINARY } from '../traffic/ordinary.ts'
import { deciderFor, type Traffic } from '../traffic/traffic.ts'

/** Traffic that is measured on each database. */
export const TRAFFIC: readonly Traffic[] = [...ORDINARY, NEW_SUBJECTS]

/** An engine for each traffic, on a separate store. */
export function quotasFor(
  traffic: readonly Traffic[],
  dialect: string,
  storeOf: (index: number) => QuotaStore,
): Promise<Decider[]> {
  return Promise.all(
    traffic.map((each, index) => deciderFor(each, `quota on ${dialect}: ${each.name}`, storeOf(index))),
  )
}
