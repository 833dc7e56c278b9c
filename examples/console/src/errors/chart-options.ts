import uPlot from 'uplot'
import type { Formats } from '../words/formats.ts'
import type { FactorStep } from './factor-line.ts'
import type { Cursor } from './readout.tsx'

/** The current colours: a canvas follows no style sheet. */
export interface Colours {
  readonly text: string
  readonly line: string
  readonly codeZero: string
  readonly server: string
  readonly business: string
  readonly factor: string
}

export interface ChartLook {
  readonly colours: Colours
  readonly formats: Formats
  readonly steps: readonly FactorStep[]
  /** Seconds since the epoch; the end of the last step. */
  readonly until: number
  onCursor(cursor: Cursor | undefined): void
}

const HOUR_SECONDS = 3_600
/** Between the marks of the time: whole hours, of which a day has a whole number, and whole days. */
const STEPS = [1, 2, 3, 6, 12, 24, 48, 96].map((hours) => hours * HOUR_SECONDS)
/** What the scale of shares reaches at least, so that a single failure is no tower. */
const LEAST_TOP = 0.1
const FACTOR_RANGE: [number, number] = [0.7, 1.55]
const FACTORS = [0.75, 1, 1.25, 1.5]
const FONT = '12px system-ui, sans-serif'

/** Bars that are stacked by being painted from the tallest on, and the factor as a line over them. */
export function chartOptions(width: number, height: number, look: ChartLook): uPlot.Options {
  const { colours, formats, until, onCursor } = look
  const axis = { font: FONT, stroke: colours.text, ticks: { show: false } } as const
  const grid = { stroke: colours.line, width: 1 }
  return {
    width,
    height,
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { show: false } },
    scales: {
      x: { range: (_chart, min) => [min, until] },
      share: { range: (_chart, _min, max) => [0, Math.min(1, Math.max(LEAST_TOP, max * 1.15))] },
      factor: { range: () => FACTOR_RANGE },
    },
    axes: [
      {
        ...axis,
        grid,
        size: 28,
        space: 64,
        incrs: STEPS,
        values: (_chart, splits) => splits.map((at) => tickText(at, formats)),
      },
      { ...axis, grid, scale: 'share', size: 56, values: (_chart, splits) => splits.map(formats.percent) },
      {
        ...axis,
        scale: 'factor',
        side: 1,
        size: 52,
        stroke: colours.factor,
        grid: { show: false },
        splits: () => FACTORS,
        values: (_chart, splits) => splits.map((value) => `×${formats.factor(value)}`),
      },
    ],
    series: [
      {},
      bar(colours.business),
      bar(colours.server),
      bar(colours.codeZero),
      { scale: 'factor', show: true, paths: () => null, points: { show: false } },
    ],
    hooks: {
      draw: [(chart) => paintFactor(chart, look)],
      setCursor: [(chart) => onCursor(cursorOf(chart))],
    },
  }
}

function cursorOf({ cursor: { idx, left }, over }: uPlot): Cursor | undefined {
  if (typeof idx !== 'number' || left === undefined || left < 0) return undefined
  return { index: idx, left: left + over.offsetLeft }
}

function bar(colour: string): uPlot.Series {
  const paths = uPlot.paths.bars?.({ size: [1, Number.POSITIVE_INFINITY], align: 1 })
  return {
    scale: 'share',
    fill: colour,
    stroke: colour,
    width: 0,
    points: { show: false },
    ...(paths === undefined ? {} : { paths }),
  }
}

/** Ticks at midnight show the date, others the time. */
function tickText(at: number, formats: Formats): string {
  const date = new Date(at * 1_000)
  return date.getHours() === 0 ? formats.day(date.getTime()) : formats.time(date.getTime())
}

/** Moves come at any minute: they are painted where they were, not where a bar begins. */
function paintFactor(chart: uPlot, { colours, steps, until }: ChartLook): void {
  const { ctx, bbox } = chart
  const x = (at: number): number => chart.valToPos(at, 'x', true)
  const y = (factor: number): number => chart.valToPos(factor, 'factor', true)
  const ratio = devicePixelRatio
  ctx.save()
  ctx.beginPath()
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height)
  ctx.clip()
  ctx.strokeStyle = colours.factor
  ctx.lineJoin = 'round'
  ctx.lineWidth = 2 * ratio
  ctx.beginPath()
  let before: FactorStep | undefined
  for (const step of steps) {
    if (before === undefined) ctx.moveTo(x(step.at), y(step.factor))
    else {
      ctx.lineTo(x(step.at), y(before.factor))
      ctx.lineTo(x(step.at), y(step.factor))
    }
    before = step
  }
  if (before !== undefined) ctx.lineTo(x(until), y(before.factor))
  ctx.stroke()
  ctx.restore()
}
