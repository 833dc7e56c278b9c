import type { OutgoingRequest } from './options.ts'

/** Header fields that identify callers. */
const CREDENTIALS = ['authorization', 'x-api-key', 'api-key', 'private-token', 'x-shopify-access-token']

/**
 * Origin, and a digest of the credential and the `model` of a JSON body: providers of language models limit each model
 * separately. Neither is stored.
 */
export function originCredentialAndModel({ url, headers, body }: OutgoingRequest): string {
  const credentials = CREDENTIALS.map((name) => headers.get(name) ?? '')
  return `${url.origin} ${digest([...credentials, modelOf(body)].join('\n'))}`
}

function modelOf(body: string | undefined): string {
  if (body?.includes('"model"') !== true) return ''
  const { model } = jsonObject(body)
  return typeof model === 'string' ? model : ''
}

/** Returns the members of a JSON object; none for any other text. */
export function jsonObject(text: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? { ...value } : {}
  } catch {
    return {}
  }
}

/** 64 bits, in memory only. It isn't cryptographic: two credentials with the same digest would only share a pace. */
function digest(text: string): string {
  let [high, low] = [0xdeadbeef, 0x41c6ce57]
  for (let index = 0; index < text.length; index++) {
    high = Math.imul(high ^ text.charCodeAt(index), 2_654_435_761)
    low = Math.imul(low ^ text.charCodeAt(index), 1_597_334_677)
  }
  return `${(high >>> 0).toString(36)}${(low >>> 0).toString(36)}`
}
