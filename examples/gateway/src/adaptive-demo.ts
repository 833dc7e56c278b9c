import { adaptiveDemo } from './demo/adaptive-demo.ts'

await adaptiveDemo((line) => process.stdout.write(`${line}\n`))
