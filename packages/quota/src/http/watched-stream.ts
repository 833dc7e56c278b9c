/**
 * Callbacks for the outcome of a stream. One of them is called, once. The reader gets the end after the promise
 * settles.
 */
interface StreamWatch {
  /** The reader read to the end. */
  readonly end: () => Promise<unknown> | undefined
  /** The reader cancelled. */
  readonly cancel: () => Promise<unknown> | undefined
  /** The source failed. */
  readonly fail: (error: unknown) => Promise<unknown> | undefined
  /** The stream was not read for ten minutes. A reader that drops a stream doesn't cancel it. */
  readonly unread: () => unknown
}

/** After how long without a read a stream counts as dropped, in milliseconds. */
const UNREAD_MS = 600_000

/**
 * Returns a stream of the same chunks, and reports its end, cancellation or failure once.
 *
 * @param each receives every chunk before the reader does
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
    // In Node, the timer must not keep the process alive. Elsewhere, timers are numbers without `unref`.
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
      // A cancelled read also ends, but isn't the stream's end.
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
  // No read-ahead: a pull means that the consumer reads.
  return new ReadableStream(source, { highWaterMark: 0 })
}
