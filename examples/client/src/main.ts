import { runClient } from './run-client.ts'
import { terminal } from './terminal.ts'

process.exitCode = await runClient(process.argv.slice(2), terminal(process))
