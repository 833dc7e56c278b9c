import { createQuota } from '@scoregw/quota'

/**
 * No receiver gets more than it can take: one delivery per second, and up
 * to five at once after a pause.
 */
export const quota = createQuota({
  limits: {
    receiver: { by: 'receiver', limit: 60, per: '1m', burst: 5 },
    all: { shared: 'sender', limit: 10_000, per: '1m', burst: 500 },
  },
})

export interface Delivery {
  readonly event: string
  /** Goes up with every try. */
  readonly attempt: number
  readonly receiver: string
}

/** How a delivery ended, for the queue. */
export type Outcome = 'sent' | 'drop' | { readonly againInMs: number }

/**
 * Sends an event once, even if the queue delivers it several times: the
 * id names the event and the attempt. A failed send stays charged, since
 * the receiver may have counted it, and is tried again later.
 */
export async function deliver(
  { event, attempt, receiver }: Delivery,
  send: () => Promise<void>,
): Promise<Outcome> {
  const held = await quota.reserve({
    subject: receiver,
    id: `delivery:${event}:${attempt}`,
  })
  if (held.status === 'refused') {
    const { retryAfterMs } = held.decision
    // Waiting doesn't help if the receiver's limit is 0.
    return retryAfterMs === null ? 'drop' : { againInMs: retryAfterMs }
  }
  if (!held.allowed) return 'drop'
  try {
    await send()
    return 'sent'
  } catch {
    return { againInMs: 1_000 * 2 ** Math.min(attempt, 10) }
  } finally {
    await held.commit()
  }
}
