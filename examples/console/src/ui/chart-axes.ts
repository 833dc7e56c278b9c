import type uPlot from 'uplot'
import type { Formats } from '../words/formats.ts'
import type { ReadColour } from './time-chart.tsx'

const MINUTE_SECONDS = 60
/** Minutes between marks: steps that divide an hour or a day evenly, and whole days. */
const STEPS = [0.25, 10, 15, 30, 60, 120, 180, 360, 720, 1_440, 2_880, 5_760].map((minutes) => minutes * MINUTE_SECONDS)
const FONT = '12px system-ui, sans-serif'

export function plainAxis(colour: ReadColour): uPlot.Axis {
  return {
    font: FONT,
    stroke: colour('--quiet'),
    ticks: { show: false },
    grid: { stroke: colour('--line'), width: 1 },
  }
}

/** The time axis. It ends where the last step does. */
export function timeAxis(colour: ReadColour, formats: Formats): uPlot.Axis {
  return {
    ...plainAxis(colour),
    size: 31,
    gap: 8,
    // Room for a date with its weekday.
    space: 76,
    incrs: STEPS,
    values: (_chart, splits) => splits.map((at) => tickText(at, formats)),
  }
}

/** @param stepSeconds the length of the last step */
export function timeScale(stepSeconds: number): uPlot.Scale {
  return { range: (_chart, min, max) => [min, max + stepSeconds] }
}

/** Shows the date at midnight, seconds within a minute, and the time otherwise. */
function tickText(at: number, formats: Formats): string {
  const date = new Date(at * 1_000)
  if (date.getSeconds() !== 0) return formats.timeOfDay(date.getTime())
  const isMidnight = date.getHours() === 0 && date.getMinutes() === 0
  return isMidnight ? formats.day(date.getTime()) : formats.time(date.getTime())
}
