import { one, skewed, USERS, userAt } from '../memory/users.ts'
import { USUAL, USUAL_OPERATION } from './ordinary.ts'
import { PRICES, policyOf } from './policies.ts'
import type { Traffic } from './traffic.ts'

const REFUSED: Traffic = {
  ...USUAL,
  name: 'all refused',
  policy: policyOf({ personal: PRICES[USUAL_OPERATION] - 1 }),
  isAdmitted: false,
}

/** An attack by subjects who have used up their limit. Their counters exist and are no longer written. */
export const FULL: Traffic = {
  ...USUAL,
  name: 'limits reached, all refused',
  policy: policyOf({ personal: PRICES[USUAL_OPERATION] }),
  isAdmitted: false,
  async prepare(quota) {
    for (let user = 0; user < USERS; user += PREPARED) {
      const some = Array.from({ length: PREPARED }, (_, index) => `user-${user + index}`)
      await Promise.all(some.map((each) => quota.consume(USUAL.request(each, 0))))
    }
  },
}

/** How many users of {@link FULL} are prepared together, since a server may be slow. */
const PREPARED = 100

export const NEW_SUBJECTS: Traffic = {
  ...USUAL,
  name: 'subjects never seen before',
  request: (_, n) => USUAL.request(`new-${n}`, n),
}

export const NEW_IDS: Traffic = {
  ...USUAL,
  name: 'ids never seen before',
  call: 'reserve',
  request: (user, n) => ({ ...USUAL.request(user, n), id: `id-${n}` }),
}

/** The parts of an attack, starting with the usual traffic that they are compared with. */
export const ATTACKS: readonly Traffic[] = [
  { ...USUAL, name: 'usual traffic' },
  REFUSED,
  NEW_SUBJECTS,
  NEW_IDS,
  {
    ...USUAL,
    name: 'a million subjects, few of them hot',
    request: (_, n) => USUAL.request(userAt(skewed, n), n),
  },
  { ...USUAL, name: 'one subject from all callers', request: (_, n) => USUAL.request(userAt(one, n), n) },
]
