import { createQuota, definePolicy } from '@scoregw/quota'
import { ipSubject } from '@scoregw/quota/http'

const MINUTE_MS = 60_000

/** Counts wrong passwords only: a correct one costs nothing. */
export const guard = createQuota({
  policy: definePolicy({
    windows: [
      { label: '15m', lengthMs: 15 * MINUTE_MS },
      { label: '1d', lengthMs: 24 * 60 * MINUTE_MS },
    ],
    categories: ['attempt'],
    layers: [{ name: 'account' }, { name: 'address' }],
    operations: { attempt: { category: 'attempt', cost: 1 } },
    base: {
      account: { attempt: { '15m': 5, '1d': 20 } },
      address: { attempt: { '15m': 20, '1d': 100 } },
    },
  }),
})

export type LogIn =
  | { readonly outcome: 'welcome' | 'wrong' }
  | { readonly outcome: 'wait'; readonly seconds: number }

/**
 * Holds one attempt while the password is checked, so concurrent
 * guesses can't pass together. Refunds it unless the password was
 * wrong.
 */
export async function logIn(
  account: string,
  ip: string,
  isRight: () => Promise<boolean>,
): Promise<LogIn> {
  const subject = {
    account: `account:${account.trim().toLowerCase()}`,
    address: ipSubject(ip) ?? 'ip:unknown',
  }
  const held = await guard.reserve({ subject, operation: 'attempt' })
  if (!held.allowed) {
    const seconds = held.decision?.retryAfterSeconds ?? 1
    return { outcome: 'wait', seconds }
  }
  let wrong = false
  try {
    wrong = !(await isRight())
  } finally {
    await (wrong ? held.commit() : held.cancel())
  }
  return { outcome: wrong ? 'wrong' : 'welcome' }
}
