import { jsonObject } from './key.ts'

/** The longest body of a refusal that is read, in bytes. */
const MOST_BYTES = 65_536

/**
 * Whether a refusal says that waiting doesn't help: `retryable: false`, or OpenAI's `insufficient_quota`. Reads a copy of
 * a JSON body, so that the caller can still read the response.
 */
export async function isHopeless(response: Response): Promise<boolean> {
  if (!/json/i.test(response.headers.get('content-type') ?? '') || response.bodyUsed) return false
  const body = jsonObject(await beginning(response.clone()))
  const error = typeof body.error === 'object' && body.error !== null ? { ...body.error } : {}
  return [body, error].some(hasSaidSo)
}

function hasSaidSo({ retryable, code, type }: Readonly<Record<string, unknown>>): boolean {
  return retryable === false || code === 'insufficient_quota' || type === 'insufficient_quota'
}

/** Returns the text of a body; an empty one if it is too long or breaks off. */
async function beginning({ body }: Response): Promise<string> {
  const reader = body?.getReader()
  const decoder = new TextDecoder()
  let [text, bytes] = ['', 0]
  try {
    for (let part = await reader?.read(); part?.value !== undefined; part = await reader?.read()) {
      bytes += part.value.length
      if (bytes > MOST_BYTES) {
        void reader?.cancel().catch(() => undefined)
        return ''
      }
      text += decoder.decode(part.value, { stream: true })
    }
  } catch {
    return ''
  }
  return text
}
