// Prints the figures of docs/guide/adaptive.md, and redraws its picture.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { comparison, lawByPlant, plot, recovery } from './report.ts'

const SEEDS = 100

writeFileSync(join(import.meta.dirname, '../../../../docs/guide/adaptive.svg'), plot())
console.log([lawByPlant(SEEDS), comparison(SEEDS), recovery(SEEDS)].join('\n\n'))
