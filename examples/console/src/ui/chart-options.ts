import uPlot from 'uplot'
import type { Formats } from '../words/formats.ts'

/** Reads a colour variable of the style sheet. Canvases can't use such variables. */
export type ReadColour = (variable: string) => string

/** A line's value from this time on, in seconds since the epoch. */
export interface LinePoint {
  readonly at: number
  readonly value: number
}

export interface ChartLook {
  readonly formats: Formats
  readonly stepSeconds: number
  /** Of the stacked bars, the tallest first. */
  readonly colours: readonly string[]
  /** The scale reaches at least this far, so that little doesn't fill the chart. */
  readonly least: number
  axisText(value: number): string
  /** The adaptive factor over the bars, with an axis of its own. */
  readonly factor?: readonly LinePoint[] | undefined
}

const MINUTE_SECONDS = 60
/** Minutes between marks: steps that divide an hour or a day evenly, and whole days. */
const STEPS = [0.25, 10, 15, 30, 60, 120, 180, 360, 720, 1_440, 2_880, 5_760].map((minutes) => minutes * MINUTE_SECONDS)
const FACTOR_RANGE: [number, number] = [0.7, 1.55]
const FACTORS = [0.75, 1, 1.25, 1.5]

/** Stacked bars over whole steps of time, painted from the tallest on. */
export function chartOptions(
  { width, height }: { readonly width: number; readonly height: number },
  colour: ReadColour,
  look: ChartLook,
): uPlot.Options {
  const { formats, stepSeconds, colours, least, axisText, factor } = look
  const axis: uPlot.Axis = {
    font: '12px system-ui, sans-serif',
    stroke: colour('--quiet'),
    ticks: { show: false },
    grid: { stroke: colour('--line'), width: 1 },
  }
  // Room for a date with its weekday.
  const time: uPlot.Axis = {
    ...{ ...axis, size: 31, gap: 8, space: 76, incrs: STEPS },
    values: (_chart, splits) => splits.map((at) => tickText(at, formats)),
  }
  const ofFactor: uPlot.Axis = {
    ...{ ...axis, scale: 'factor', side: 1, size: 52, stroke: colour('--factor'), grid: { show: false } },
    splits: () => FACTORS,
    values: (_chart, splits) => splits.map((value) => `×${formats.factor(value)}`),
  }
  return {
    width,
    height,
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { show: false } },
    scales: {
      // It ends where the last step does.
      x: { range: (_chart, min, max) => [min, max + stepSeconds] },
      y: { range: (_chart, _min, max) => [0, Math.max(least, max * 1.1)] },
      factor: { range: () => FACTOR_RANGE },
    },
    axes: [
      time,
      { ...axis, size: 56, values: (_chart, splits) => splits.map(axisText) },
      ...(factor === undefined ? [] : [ofFactor]),
    ],
    series: [
      {},
      ...colours.map((each) => bars(colour(each))),
      ...(factor === undefined ? [] : [{ scale: 'factor', paths: () => null, points: { show: false } }]),
    ],
    hooks: factor === undefined ? {} : { draw: [(chart) => paintLine(chart, factor, colour('--factor'))] },
  }
}

function bars(colour: string): uPlot.Series {
  const paths = uPlot.paths.bars?.({ size: [0.85, Number.POSITIVE_INFINITY], align: 1 })
  const look = { fill: colour, stroke: colour, width: 0, points: { show: false } }
  return paths === undefined ? look : { ...look, paths }
}

/** Shows the date at midnight, seconds within a minute, and the time otherwise. */
function tickText(at: number, formats: Formats): string {
  const date = new Date(at * 1_000)
  if (date.getSeconds() !== 0) return formats.timeOfDay(date.getTime())
  const isMidnight = date.getHours() === 0 && date.getMinutes() === 0
  return isMidnight ? formats.day(date.getTime()) : formats.time(date.getTime())
}

/** Moves happen at any minute, so they are painted at their own time and not where a bar begins. */
function paintLine(chart: uPlot, points: readonly LinePoint[], colour: string): void {
  const { ctx, bbox } = chart
  const y = (value: number): number => chart.valToPos(value, 'factor', true)
  const end = chart.scales.x?.max ?? 0
  ctx.save()
  ctx.beginPath()
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height)
  ctx.clip()
  ctx.strokeStyle = colour
  ctx.lineJoin = 'round'
  ctx.lineWidth = 2 * devicePixelRatio
  ctx.beginPath()
  for (const [index, { at, value }] of points.entries()) {
    ctx.lineTo(chart.valToPos(at, 'x', true), y(value))
    ctx.lineTo(chart.valToPos(points[index + 1]?.at ?? end, 'x', true), y(value))
  }
  ctx.stroke()
  ctx.restore()
}
