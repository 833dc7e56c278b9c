/** The outcome of a watched stream: one of the four, once. What is returned is waited for before its reader gets the end. */
interface StreamWatch {
  /** It was read to its end. */
  readonly end: () => Promise<unknown> | undefined
  /** Its reader cancelled it. */
  readonly cancel: () => Promise<unknown> | undefined
  /** Its source broke. */
  readonly fail: (error: unknown) => Promise<unknown> | undefined
  /** Nobody has read it for ten minutes: a stream that is dropped is never cancelled. */
  readonly unread: () => unknown
}

/** How long a stream may stay unread before its reader counts as gone, in milliseconds. */
const UNREAD_MS = 600_000

/**
 * The same chunks, read as its reader requests them, whose end, cancellation or failure is reported once.
 *
 * @param each is given every chunk before its reader
 */
export function watchedStream<Chunk>(
  stream: ReadableStream<Chunk>,
  watch: StreamWatch,
  each?: (chunk: Chunk) => void,
): ReadableStream<Chunk> {
  const reader = stream.getReader()
  let isCancelled = false
  let unread: ReturnType<typeof setTimeout> | undefined
  const awaitReader = (): void => {
    unread = setTimeout(watch.unread, UNREAD_MS)
    // Where timers keep a process alive, this one does not; elsewhere they are numbers.
    ;(unread as { unref?: () => void }).unref?.()
  }
  awaitReader()
  const source = {
    async pull(controller: ReadableStreamDefaultController<Chunk>) {
      clearTimeout(unread)
      try {
        const { value, done } = await reader.read()
        if (!done) {
          each?.(value)
          controller.enqueue(value)
          if (!isCancelled) awaitReader()
          return
        }
      } catch (error) {
        await watch.fail(error)
        controller.error(error)
        return
      }
      // A read that a cancel ended is no end.
      if (isCancelled) return
      await watch.end()
      controller.close()
    },
    async cancel(reason: unknown) {
      isCancelled = true
      clearTimeout(unread)
      await watch.cancel()
      await reader.cancel(reason)
    },
  }
  // Nothing is read ahead: a pull means that the consumer reads.
  return new ReadableStream(source, { highWaterMark: 0 })
}
