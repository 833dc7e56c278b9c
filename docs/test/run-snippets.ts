// Runs the modules named on the command line one after the other, and prints as JSON what each of them logged.
import { pathToFileURL } from 'node:url'
import { format } from 'node:util'

/** What a module did: its `console.log` calls, and the error that ended it. */
export interface SnippetRun {
  readonly logged: readonly string[]
  readonly error?: string | undefined
}

/** The machine's time stands still, so that a page prints the same each time without a word of it in what people copy. */
const INSTANT = Date.UTC(2026, 7, 6, 14, 6, 26)
Date.now = () => INSTANT

/** What would keep a process from ending, of the kinds that a snippet can leave open. */
function openNow(): string[] {
  return process.getActiveResourcesInfo().filter((kind) => !/^(?:Pipe|TTY|FSReq|CloseReq|PROMISE|Immediate)/.test(kind))
}

async function run(file: string): Promise<SnippetRun> {
  const logged: string[] = []
  const before = openNow()
  console.log = (...parts: unknown[]) => void logged.push(format(...parts))
  try {
    await import(pathToFileURL(file).href)
    // What was closed is gone after a turn of the event loop.
    await new Promise(setImmediate)
    const open = openNow()
    for (const kind of before) if (open.includes(kind)) open.splice(open.indexOf(kind), 1)
    if (open.length > 0) return { logged, error: `does not end by itself: ${open.join(', ')}` }
    return { logged }
  } catch (error) {
    return { logged, error: error instanceof Error ? (error.stack ?? error.message) : format(error) }
  }
}

const runs: SnippetRun[] = []
for (const file of process.argv.slice(2)) runs.push(await run(file))
process.stdout.write(JSON.stringify(runs), () => process.exit())
