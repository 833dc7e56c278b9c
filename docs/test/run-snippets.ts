// Runs the modules named on the command line one after the other, and prints as JSON what each of them logged.
import { pathToFileURL } from 'node:url'
import { format } from 'node:util'

/** What a module did: its `console.log` calls, and the error that ended it. */
export interface SnippetRun {
  readonly logged: readonly string[]
  readonly error?: string | undefined
}

async function run(file: string): Promise<SnippetRun> {
  const logged: string[] = []
  console.log = (...parts: unknown[]) => void logged.push(format(...parts))
  try {
    await import(pathToFileURL(file).href)
    return { logged }
  } catch (error) {
    return { logged, error: error instanceof Error ? (error.stack ?? error.message) : format(error) }
  }
}

const runs: SnippetRun[] = []
for (const file of process.argv.slice(2)) runs.push(await run(file))
process.stdout.write(JSON.stringify(runs), () => process.exit())
