/** Repeats a check every few milliseconds until it passes. */
export async function until(what: string, isSo: () => Promise<boolean>, timeoutMs = 20_000): Promise<void> {
  const latest = performance.now() + timeoutMs
  while (!(await isSo().catch(() => false))) {
    if (performance.now() > latest) throw new Error(`Waited ${timeoutMs} ms in vain until ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
