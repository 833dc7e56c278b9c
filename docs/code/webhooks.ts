import { createQuota, definePolicy } from '@scoregw/quota'

/** No receiver gets more than it can take. */
export const quota = createQuota({
  policy: definePolicy({
    windows: [{ label: '1s' }, { label: '1m' }],
    categories: ['delivery'],
    layers: [{ name: 'receiver' }, { name: 'sender', shared: true }],
    operations: { deliver: { category: 'delivery', cost: 1 } },
    base: {
      receiver: { delivery: { '1s': 5, '1m': 60 } },
      sender: { delivery: { '1s': 500, '1m': 10_000 } },
    },
  }),
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
    operation: 'deliver',
    id: `delivery:${event}:${attempt}`,
  })
  if (held.status === 'refused')
    return { againInMs: held.decision.retryAfterMs }
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
