import type uPlot from 'uplot'
import { plainAxis, timeAxis, timeScale } from '../../ui/chart-axes.ts'
import { bars, type ReadColour } from '../../ui/time-chart.tsx'
import type { Formats } from '../../words/formats.ts'
import type { FactorStep } from './readout.tsx'

export interface ChartLook {
  readonly formats: Formats
  readonly steps: readonly FactorStep[]
  readonly stepSeconds: number
}

/** The share scale reaches at least this far, so that a single failure doesn't fill the chart. */
const LEAST_TOP = 0.1
const FACTOR_RANGE: [number, number] = [0.7, 1.55]
const FACTORS = [0.75, 1, 1.25, 1.5]

/** Stacked bars, painted from the tallest on, and the factor as a line above them. */
export function chartOptions(width: number, height: number, colour: ReadColour, look: ChartLook): uPlot.Options {
  const { formats, stepSeconds, steps } = look
  const axis = plainAxis(colour)
  const factor = colour('--factor')
  return {
    width,
    height,
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { show: false } },
    scales: {
      x: timeScale(stepSeconds),
      share: { range: (_chart, _min, max) => [0, Math.min(1, Math.max(LEAST_TOP, max * 1.15))] },
      factor: { range: () => FACTOR_RANGE },
    },
    axes: [
      timeAxis(colour, formats),
      { ...axis, scale: 'share', size: 56, values: (_chart, splits) => splits.map(formats.percent) },
      {
        ...axis,
        scale: 'factor',
        side: 1,
        size: 52,
        stroke: factor,
        grid: { show: false },
        splits: () => FACTORS,
        values: (_chart, splits) => splits.map((value) => `×${formats.factor(value)}`),
      },
    ],
    series: [
      {},
      bars(colour('--client-error'), 'share'),
      bars(colour('--server-error'), 'share'),
      bars(colour('--code-zero'), 'share'),
      { scale: 'factor', show: true, paths: () => null, points: { show: false } },
    ],
    hooks: { draw: [(chart) => paintFactor(chart, steps, factor)] },
  }
}

/** Moves happen at any minute, so they are painted at their own time and not where a bar begins. */
function paintFactor(chart: uPlot, steps: readonly FactorStep[], colour: string): void {
  const { ctx, bbox } = chart
  const x = (at: number): number => chart.valToPos(at, 'x', true)
  const y = (factor: number): number => chart.valToPos(factor, 'factor', true)
  const ratio = devicePixelRatio
  ctx.save()
  ctx.beginPath()
  ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height)
  ctx.clip()
  ctx.strokeStyle = colour
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
  if (before !== undefined) ctx.lineTo(x(chart.scales.x?.max ?? 0), y(before.factor))
  ctx.stroke()
  ctx.restore()
}
