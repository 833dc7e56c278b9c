import { createHash, randomUUID } from 'node:crypto'

/** The kinds of alerts, by the type of the message. */
export const ALERT_TYPES = ['limit.near', 'settings.fault', 'counters.away', 'factor.bound', 'webhook.test'] as const
export type AlertType = (typeof ALERT_TYPES)[number]

/** Something that administrators are to be notified of. */
export interface Alert {
  /** Names the message for its receiver, in every attempt. */
  readonly id: string
  /** Identifies the occasion: of alerts with the same text one is kept, whichever process noticed it. */
  readonly occasion: string
  readonly type: AlertType
  /** Epoch milliseconds. */
  readonly at: number
  /** The message, byte for byte. */
  readonly body: string
}

/**
 * An alert with a message of Standard Webhooks' form: `type`, `timestamp`, `data`.
 *
 * @param occasion parts of what makes the occasion, of any text: they are put together so that no two can be confused
 */
export function alertOf(type: AlertType, at: number, occasion: readonly unknown[], data: object): Alert {
  return {
    id: `msg_${randomUUID().replaceAll('-', '')}`,
    occasion: createHash('sha256')
      .update(JSON.stringify([type, ...occasion]))
      .digest('hex'),
    type,
    at,
    body: JSON.stringify({ type, timestamp: new Date(at).toISOString(), data }),
  }
}
