import { CONTROLLERS, law } from './controllers.ts'
import { healthy, PLANTS, type Plant } from './plants.ts'
import { largestStep, minutesUntil, type Run, reversals, simulate, timeAboveHighRate } from './simulation.ts'

const DELAYS = [5, 20, 60] as const

const mean = (figures: readonly number[]): number => figures.reduce((sum, each) => sum + each, 0) / figures.length
const percent = (fraction: number): string => `${(100 * fraction).toFixed(1)} %`
const decimal = (hundredths: number): string => (hundredths / 100).toFixed(2)
const meanFactor = (runs: readonly Run[]): string => decimal(mean(runs.map(({ factors }) => mean(factors))))

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const widths = head.map((_, column) => Math.max(...[head, ...rows].map((row) => row[column]!.length)))
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column]!)).join(' | ')} |`
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line)].join('\n')
}

/** Two days at 100 calls a minute under each seed. */
function days(make: (typeof CONTROLLERS)[number][1], plant: Plant, delay: number, seeds: number): Run[] {
  return Array.from({ length: seeds }, (_, index) =>
    simulate(make(), {
      plant,
      seed: index + 1,
      hours: 48,
      callsPerMinute: 100,
      deadMinutes: delay,
      lagMinutes: delay,
    }),
  )
}

/** What the law does on each plant, as a Markdown table. */
export function lawByPlant(seeds: number): string {
  const rows = PLANTS.flatMap((plant) =>
    DELAYS.map((delay) => {
      const runs = days(() => law(), plant, delay, seeds)
      return [
        plant.kind,
        plant.name,
        `${delay} min`,
        String(Math.max(...runs.map(reversals))),
        percent(mean(runs.map(timeAboveHighRate))),
        meanFactor(runs),
      ]
    }),
  )
  return table(['Kind', 'Error rate', 'Delay', 'Most reversals', 'Time above 2 %', 'Mean factor'], rows)
}

/** The law beside other controllers, as a Markdown table. */
export function comparison(seeds: number): string {
  const rows = CONTROLLERS.flatMap(([name, make]) =>
    (['soft', 'cliff'] as const).map((kind) => {
      const runs = PLANTS.filter((plant) => plant.kind === kind).flatMap((plant) =>
        DELAYS.flatMap((delay) => days(make, plant, delay, seeds)),
      )
      return [
        name,
        kind,
        String(Math.max(...runs.map(reversals))),
        mean(runs.map(reversals)).toFixed(1),
        decimal(Math.max(...runs.map(largestStep))),
        percent(mean(runs.map(timeAboveHighRate))),
        meanFactor(runs),
      ]
    }),
  )
  const head = ['Controller', 'Kind', 'Most reversals', 'Mean', 'Largest step', 'Time above 2 %', 'Mean factor']
  return table(head, rows)
}

/** How long the factor takes from the end of an outage back to 1, as a Markdown table. */
export function recovery(seeds: number): string {
  const rows = [100, 25, 10, 7].map((callsPerMinute) => {
    const minutes = Array.from({ length: seeds }, (_, index) =>
      minutesUntil(
        simulate(law(), { plant: healthy(0.001), seed: index + 1, hours: 12, callsPerMinute, outage: [30, 90] }),
        90,
        100,
      ),
    ).sort((a, b) => a - b)
    return [String(callsPerMinute), `${minutes[Math.floor(seeds / 2)]} min`, `${minutes.at(-1)} min`]
  })
  return table(['Calls a minute', 'Median', 'Longest'], rows)
}

const WIDTH = 860
const BAND = 130
const COLORS = ['#1f6feb', '#b35900', '#7d3cb5', '#3a7d44']

/** One day of each controller on the same plant, as a drawing. */
export function plot(): string {
  const plant = PLANTS.find(({ name }) => name === 'queue of 1.10')!
  const bands = CONTROLLERS.map(([name, make], index) => {
    const { factors } = simulate(make(), {
      plant,
      seed: 1,
      hours: 24,
      callsPerMinute: 100,
      deadMinutes: 20,
      lagMinutes: 20,
    })
    return band(name, factors, index * BAND + 10, COLORS[index]!)
  })
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

/** The factor over time as steps, on lines at 0.75, 1 and 1.5. */
function band(name: string, factors: readonly number[], top: number, color: string): string {
  const y = (hundredths: number): number => Math.round((top + ((150 - hundredths) / 75) * (BAND - 30)) * 10) / 10
  const x = (minute: number): number => Math.round((60 + (minute / factors.length) * 780) * 10) / 10
  const grid = [75, 100, 150].flatMap((each) => [
    `<path d="M60 ${y(each)}H840" stroke="#ddd"/>`,
    text(52, y(each) + 4, decimal(each), 'end'),
  ])
  const steps = factors.flatMap((factor, minute) =>
    factor === (factors[minute - 1] ?? 100) ? [] : [`H${x(minute)}V${y(factor)}`],
  )
  const line = `<path d="M60 ${y(100)}${steps.join('')}H840" fill="none" stroke="${color}" stroke-width="1.5"/>`
  return [...grid, line, text(840, top + 2, name, 'end')].join('\n')
}
