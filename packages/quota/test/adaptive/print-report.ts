// Prints the figures of docs/guide/adaptive.md, and redraws its picture. `--plants`: each plant, too.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { byKind, byPlant, comparison, helped, plot, recovery } from './report.ts'

const SEEDS = 20

writeFileSync(join(import.meta.dirname, '../../../../docs/guide/adaptive.svg'), plot())
const tables = [byKind, ...(process.argv.includes('--plants') ? [byPlant] : []), helped, comparison, recovery]
console.log(tables.map((each) => each(SEEDS)).join('\n\n'))
