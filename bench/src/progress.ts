/** Shows the current measurement on standard error, so that standard output has the findings alone. */
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

/** The line of {@link progress} is over. */
export function progressEnds(): void {
  progress('')
}
