// @ts-check
// The authorized user's remaining quota, read from the gateway for free.

/**
 * @typedef {Readonly<Record<string, number | 'unlimited'>>} Left tokens by category: of the window that has the fewest
 * @typedef {{ now(): Left, watch(listener: (left: Left) => void): () => void, ask(credential: string | undefined): Promise<void> }} QuotaLeft
 */

/**
 * @param {string | undefined} address of the service; absent: nothing is charged there
 * @returns {QuotaLeft}
 */
export function quotaLeft(address) {
  /** @type {Left} */
  let left = {}
  let asked = 0
  /** @type {Set<(left: Left) => void>} */
  const listeners = new Set()
  /** @param {Left} next */
  const notify = (next) => {
    left = next
    for (const listener of listeners) listener(left)
  }
  return {
    now: () => left,
    watch(listener) {
      listeners.add(listener)
      listener(left)
      return () => listeners.delete(listener)
    },
    async ask(credential) {
      asked += 1
      const number = asked
      if (address === undefined || credential === undefined) return notify({})
      const headers = { Authorization: `Bearer ${credential}` }
      const response = await fetch(`${address}/me/quota`, { headers, cache: 'no-store' }).catch(() => undefined)
      const answer = response?.ok === true ? await response.json() : undefined
      // Another user may have been authorized meanwhile.
      if (number === asked) notify(answer === undefined ? {} : fewest(answer.windows))
    },
  }
}

/**
 * @param {Readonly<Record<string, readonly { readonly remaining: number | 'unlimited' }[]>>} windows
 * @returns {Left}
 */
function fewest(windows) {
  return Object.fromEntries(
    Object.entries(windows).map(([category, list]) => {
      const numbers = list.flatMap(({ remaining }) => (typeof remaining === 'number' ? [remaining] : []))
      return [category, numbers.length === 0 ? 'unlimited' : Math.min(...numbers)]
    }),
  )
}
