import { adaptiveDemo } from './show-adaptive.ts'

await adaptiveDemo((line) => process.stdout.write(`${line}\n`))
