import type uPlot from 'uplot'
import type { Formats } from '../words/formats.ts'
import type { ReadColour } from './time-chart.tsx'

const MINUTE_SECONDS = 60
/** Between the marks of the time: parts of a minute and of an hour, whole hours of which a day has a whole number, and whole days. */
const STEPS = [0.25, 10, 15, 30, 60, 120, 180, 360, 720, 1_440, 2_880, 5_760].map((minutes) => minutes * MINUTE_SECONDS)
const FONT = '12px system-ui, sans-serif'

/** What every axis has. */
export function plainAxis(colour: ReadColour): uPlot.Axis {
  return {
    font: FONT,
    stroke: colour('--quiet'),
    ticks: { show: false },
    grid: { stroke: colour('--line'), width: 1 },
  }
}

/** The axis of the time; the last step of the chart ends where the axis does. */
export function timeAxis(colour: ReadColour, formats: Formats): uPlot.Axis {
  return {
    ...plainAxis(colour),
    size: 31,
    gap: 8,
    // As wide as a date with its day, and some air.
    space: 76,
    incrs: STEPS,
    values: (_chart, splits) => splits.map((at) => tickText(at, formats)),
  }
}

/** @param stepSeconds how long the last step is */
export function timeScale(stepSeconds: number): uPlot.Scale {
  return { range: (_chart, min, max) => [min, max + stepSeconds] }
}

/** Ticks at midnight show the date, those within a minute the seconds, others the time. */
function tickText(at: number, formats: Formats): string {
  const date = new Date(at * 1_000)
  if (date.getSeconds() !== 0) return formats.timeOfDay(date.getTime())
  const isMidnight = date.getHours() === 0 && date.getMinutes() === 0
  return isMidnight ? formats.day(date.getTime()) : formats.time(date.getTime())
}
