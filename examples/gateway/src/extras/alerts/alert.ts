import { createHash, randomUUID } from 'node:crypto'

/** The types of alerts, as in their messages. */
export const ALERT_TYPES = ['limit.near', 'settings.fault', 'counters.away', 'factor.bound', 'webhook.test'] as const
export type AlertType = (typeof ALERT_TYPES)[number]

/** An alert for administrators. */
export interface Alert {
  /** The message's id for the receiver, the same in every attempt. */
  readonly id: string
  /** Identifies the occasion. Alerts of the same occasion are stored once, whichever process noticed it. */
  readonly occasion: string
  readonly type: AlertType
  /** Epoch milliseconds. */
  readonly at: number
  /** The exact message. */
  readonly body: string
}

/**
 * Makes an alert whose message has the form of Standard Webhooks: `type`, `timestamp`, `data`.
 *
 * @param occasion parts that identify the occasion, in any text; they are joined unambiguously
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
