// Builds the console before the first start, for the container image.
import { buildConsole } from './build-console.ts'

await buildConsole((line) => process.stdout.write(`${line}\n`))
