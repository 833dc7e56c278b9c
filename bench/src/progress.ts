/** Shows the current measurement on standard error, so that standard output only has the findings. */
export function progress(what: string): void {
  const { stderr } = process
  if (!stderr.isTTY) {
    stderr.write(`${what}\n`)
    return
  }
  stderr.clearLine(0)
  stderr.cursorTo(0)
  stderr.write(what)
}

/** Ends the line of {@link progress}. */
export function progressEnds(): void {
  progress('')
}
