/** The longest event that is read, in characters; the gateway sends no longer ones. */
const MAX_EVENT = 4_000_000

/** The data of a stream's events, one after the other, until it ends. */
export async function* eventsOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  let text = ''
  try {
    for (;;) {
      const { value, done } = await reader.read()
      if (done) return
      text += decoder.decode(value, { stream: true })
      const parts = text.split('\n\n')
      text = parts.pop() ?? ''
      if (text.length > MAX_EVENT) throw new TypeError('an event without an end')
      for (const part of parts) {
        const data = part.split('\n').flatMap((line) => (line.startsWith('data: ') ? [line.slice(6)] : []))
        if (data.length > 0) yield data.join('\n')
      }
    }
  } finally {
    reader.cancel().catch(() => undefined)
  }
}
