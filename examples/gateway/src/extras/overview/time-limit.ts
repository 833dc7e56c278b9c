/** The longest that one figure waits for its store, in milliseconds: each second there are new ones. */
const LIMIT_MS = 900

/** What comes in time; `null` for what does not, or fails. */
export async function inTime<T>(work: Promise<T>): Promise<T | null> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<null>((resolve) => {
    timer = setTimeout(() => resolve(null), LIMIT_MS)
  })
  try {
    return await Promise.race([work.catch(() => null), late])
  } finally {
    clearTimeout(timer)
  }
}
