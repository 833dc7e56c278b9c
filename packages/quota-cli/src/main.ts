#!/usr/bin/env node
import { processIo } from './io.ts'
import { run } from './program.ts'

/** The exit code by which shells mark an interrupted process. */
const INTERRUPTED = 130

const interrupt = new AbortController()
process.once('SIGINT', () => interrupt.abort())
process.once('SIGTERM', () => interrupt.abort())
// The reader has closed the pipe: `quota-cli ... | head`.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0)
  throw error
})

const code = await run(process.argv.slice(2), processIo(interrupt.signal))
process.exitCode = interrupt.signal.aborted ? INTERRUPTED : code
