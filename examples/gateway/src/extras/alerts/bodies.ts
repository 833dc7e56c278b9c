import type { Policy } from '@scoregw/quota'
import type { Selectable } from 'kysely'
import * as z from 'zod'
import type { AlertTable } from '../../db/schema.ts'
import { instantText, isoInstant } from '../../http/instant.ts'
import { ALERT_TYPES, type AlertType } from './alert.ts'

const URL_ERROR = 'expected an address with https, without a user name, of 2,048 characters at most'

export const webhookDocument = z.object({
  url: z.string().nullable().describe('`null`: alerts are kept but not sent.'),
  layers: z.array(z.string()).describe('Names of the layers whose limits raise alerts.'),
  rotatedUntil: isoInstant.nullable().describe('Until when the previous secret stays valid.'),
})

export const webhookStored = webhookDocument.extend({
  secret: z
    .string()
    .nullable()
    .describe('Signs messages. Shown only in the response that created it; otherwise `null`.'),
})

/** @param allowPrivate whether http is allowed, because the receiver may be this machine */
export function webhookBody({ layers }: Policy, allowPrivate: boolean) {
  const [first, ...others] = layers.map(({ name }) => name)
  return z.strictObject({
    url: z
      .string(URL_ERROR)
      .max(2_048, URL_ERROR)
      .refine((text) => isReceiver(text, allowPrivate), URL_ERROR),
    layers: z
      .array(z.enum([first as string, ...others], { error: `expected ${layers.map(({ name }) => name).join(' or ')}` }))
      .max(layers.length)
      .describe('Names of the layers whose limits raise alerts.'),
  })
}

function isReceiver(text: string, allowPrivate: boolean): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, username, password } = new URL(text)
  const isSafe = protocol === 'https:' || (allowPrivate && protocol === 'http:')
  return isSafe && username === '' && password === ''
}

export const alertDocument = z
  .object({
    id: z.string().describe("The message's `webhook-id`."),
    type: z.enum(ALERT_TYPES),
    at: isoInstant,
    data: z.record(z.string(), z.unknown()),
    state: z
      .enum(['pending', 'sent', 'given_up', 'kept'])
      .describe('`kept`: there was no webhook. `given_up`: the receiver never accepted it.'),
    attempts: z.int(),
    nextAt: isoInstant.nullable().describe('When it will be sent again; `null`: never.'),
    lastStatus: z.int().nullable().describe('The status of the last attempt.'),
    lastFault: z.string().nullable().describe('Why the last attempt got no response.'),
    sentAt: isoInstant.nullable(),
  })
  .meta({ id: 'Alert' })

export function alertBody(row: Selectable<AlertTable>): z.output<typeof alertDocument> {
  const { id, type, at, body, state, attempts, next_at, last_status, last_fault, sent_at } = row
  const { data } = JSON.parse(body) as { readonly data: Record<string, unknown> }
  return {
    id,
    // Only these types are ever written.
    type: type as AlertType,
    at: instantText(at),
    data,
    state,
    attempts,
    nextAt: next_at === null ? null : instantText(next_at),
    lastStatus: last_status,
    lastFault: last_fault,
    sentAt: sent_at === null ? null : instantText(sent_at),
  }
}
