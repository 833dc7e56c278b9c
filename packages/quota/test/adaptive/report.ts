import { bestFixed, CONTROLLERS, law } from './controllers.ts'
import { HELPED, HELPLESS } from './later-plants.ts'
import { healthy, type NamedPlant, TUNED_ON, UNSEEN, withOutage } from './plants.ts'
import {
  type Controller,
  largestStep,
  meanFactor,
  minutesUntil,
  type Run,
  reversals,
  simulate,
  timeAboveHighRate,
} from './simulation.ts'

const HOURS = 48

const mean = (figures: readonly number[]): number => figures.reduce((sum, each) => sum + each, 0) / figures.length
const percent = (fraction: number): string => `${(100 * fraction).toFixed(1)} %`

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((_, column) => Math.max(...[head, ...rows].map((row) => row[column]!.length)))
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column]!)).join(' | ')} |`
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n')
}

/** Two days of a plant under each seed. */
export function days(make: (plant: NamedPlant) => Controller, plant: NamedPlant, seeds: number): Run[] {
  return Array.from({ length: seeds }, (_, index) => simulate(make(plant), plant, index + 1, HOURS))
}

/** Figures for the runs of some plants. */
export interface Figures {
  readonly high: number
  readonly worst: number
  readonly factor: number
  readonly reversals: number
}

export function figuresOf(runs: readonly Run[]): Figures {
  const high = runs.map(timeAboveHighRate)
  return {
    high: mean(high),
    worst: Math.max(...high),
    factor: mean(runs.map(meanFactor)),
    reversals: Math.max(...runs.map(reversals)),
  }
}

const HEAD = ['Time above 2 %', 'Worst', 'Mean factor', 'Most reversals']

/** What the law does on each kind of plant, as a Markdown table. */
export function byKind(seeds: number): string {
  const sets = [
    ['tuned on', TUNED_ON],
    ['unseen', UNSEEN],
    ['later, tuned on', [...HELPED, ...HELPLESS]],
  ] as const
  const rows = sets.flatMap(([seen, plants]) =>
    [...new Set(plants.map(({ kind }) => kind))].map((kind) => {
      const some = plants.filter((plant) => plant.kind === kind)
      return [
        kind,
        seen,
        String(some.length),
        ...cells(figuresOf(some.flatMap((plant) => days(() => law(), plant, seeds)))),
      ]
    }),
  )
  return table(['Kind', 'Plants', 'Number', ...HEAD], rows)
}

/** The same for each plant. */
export function byPlant(seeds: number): string {
  const plants = [...TUNED_ON, ...UNSEEN, ...HELPED, ...HELPLESS]
  const rows = plants.map((plant) => [plant.kind, plant.name, ...cells(figuresOf(days(() => law(), plant, seeds)))])
  return table(['Kind', 'Plant', ...HEAD], rows)
}

function cells({ high, worst, factor, reversals: most }: Figures): string[] {
  return [percent(high), percent(worst), factor.toFixed(2), String(most)]
}

/** The law and other controllers on plants that a limit can help, beside the best limit that never moves. */
export function helped(seeds: number): string {
  const sets = [
    ['tuned on', TUNED_ON.filter(({ kind }) => kind !== 'helpless')],
    ['unseen', UNSEEN],
    ['later', HELPED],
  ] as const
  const rows = sets.flatMap(([name, plants]) =>
    [...CONTROLLERS, ['best fixed', bestFixed] as const].map(([controller, make]) => {
      const runs = plants.flatMap((plant) => days(make, plant, seeds))
      return [name, controller, ...cells(figuresOf(runs))]
    }),
  )
  return table(['Plants', 'Controller', ...HEAD], rows)
}

/** The law compared with other controllers, on plants that were not seen while its constants were chosen. */
export function comparison(seeds: number): string {
  const rows = CONTROLLERS.flatMap(([name, make]) =>
    (['soft', 'cliff'] as const).map((kind) => {
      const runs = UNSEEN.filter((plant) => plant.kind === kind).flatMap((plant) => days(make, plant, seeds))
      const { high, factor, reversals: most } = figuresOf(runs)
      const largest = Math.max(...runs.map(largestStep)) / 100
      return [
        name,
        kind,
        String(most),
        mean(runs.map(reversals)).toFixed(1),
        largest.toFixed(2),
        percent(high),
        factor.toFixed(2),
      ]
    }),
  )
  const head = ['Controller', 'Kind', 'Most reversals', 'Mean', 'Largest step', 'Time above 2 %', 'Mean factor']
  return table(head, rows)
}

/** How long the factor takes from the end of an outage back to 1, as a Markdown table. */
export function recovery(seeds: number): string {
  const rows = [100, 25, 10, 7].map((callsPerMinute) => {
    const plant = withOutage(healthy(0.001, callsPerMinute))
    const minutes = Array.from({ length: seeds }, (_, index) =>
      minutesUntil(simulate(law(), plant, index + 1, 12), 90, 100),
    ).sort((a, b) => a - b)
    return [String(callsPerMinute), `${minutes[Math.floor(seeds / 2)]} min`, `${minutes.at(-1)} min`]
  })
  return table(['Calls a minute', 'Median', 'Longest'], rows)
}

const WIDTH = 860
const BAND = 130
const COLORS = ['#1f6feb', '#b35900', '#7d3cb5', '#3a7d44', '#8a6d00']
const HIGH_COLOR = '#d1242f'

/** One day of each controller on the same cliff, as a drawing. */
export function plot(): string {
  const plant = UNSEEN.find(({ name }) => name === 'queue of 1.10, 20 min')!
  const bands = CONTROLLERS.map(([name, make], index) =>
    band(name, simulate(make(plant), plant, 1, 24), index * BAND + 10, COLORS[index]!),
  )
  const height = CONTROLLERS.length * BAND + 30
  const hours = [0, 6, 12, 18, 24].map((hour) => text(60 + (hour / 24) * 780, height - 8, `${hour} h`, 'middle'))
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" font-family="sans-serif" font-size="12">`,
    '<title>The adaptive factor over a day, under four controllers</title>',
    `<rect width="${WIDTH}" height="${height}" fill="#fff"/>`,
    ...bands,
    ...hours,
    '</svg>\n',
  ].join('\n')
}

function text(x: number, y: number, content: string, anchor: string): string {
  return `<text x="${x}" y="${y}" text-anchor="${anchor}" fill="#333">${content}</text>`
}

/** The factor over time as steps, on lines at 0.75, 1 and 1.5; below it the time in which errors were above 2 %. */
function band(name: string, { factors, rates }: Run, top: number, color: string): string {
  const y = (hundredths: number): number => Math.round((top + ((150 - hundredths) / 75) * (BAND - 30)) * 10) / 10
  const x = (minute: number): number => Math.round((60 + (minute / factors.length) * 780) * 10) / 10
  const grid = [75, 100, 150].flatMap((each) => [
    `<path d="M60 ${y(each)}H840" stroke="#ddd"/>`,
    text(52, y(each) + 4, (each / 100).toFixed(2), 'end'),
  ])
  const steps = factors.flatMap((factor, minute) =>
    factor === (factors[minute - 1] ?? 100) ? [] : [`H${x(minute)}V${y(factor)}`],
  )
  const line = `<path d="M60 ${y(100)}${steps.join('')}H840" fill="none" stroke="${color}" stroke-width="1.5"/>`
  const isHigh = (minute: number): boolean => rates[minute]! > 0.02
  const spans = rates.flatMap((_, minute) => {
    if (!isHigh(minute) || (minute > 0 && isHigh(minute - 1))) return []
    const end = rates.findIndex((_, later) => later > minute && !isHigh(later))
    return [`M${x(minute)} ${y(75) + 8}H${x(end === -1 ? rates.length : end)}`]
  })
  const high = `<path d="${spans.join('')}" stroke="${HIGH_COLOR}" stroke-width="4"/>`
  const share = rates.filter((_, minute) => isHigh(minute)).length / rates.length
  return [...grid, line, high, text(840, top + 2, `${name}: ${percent(share)} of the day above 2 %`, 'end')].join('\n')
}
