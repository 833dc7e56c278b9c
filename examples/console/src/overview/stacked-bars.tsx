import type { JSX } from 'preact'

/** From the ground up. */
export const ENDINGS = ['succeeded', 'refused', 'clientError', 'serverError'] as const
export type Ending = (typeof ENDINGS)[number]

const HEIGHT = 48

/** A column for each step, the oldest first; what it says stands in numbers beside it. */
export function StackedBars(of: {
  readonly label: string
  readonly columns: readonly Readonly<Record<Ending, number>>[]
}): JSX.Element {
  const { label, columns } = of
  const most = Math.max(1, ...columns.map(totalOf))
  return (
    <svg
      class="stacked"
      role="img"
      aria-label={label}
      viewBox={`0 0 ${columns.length} ${HEIGHT}`}
      preserveAspectRatio="none"
    >
      {columns.map((column, index) => (
        // A column is identified by its place.
        <Column key={index} at={index} of={column} scale={HEIGHT / most} />
      ))}
    </svg>
  )
}

function Column(of: { at: number; of: Readonly<Record<Ending, number>>; scale: number }): JSX.Element {
  let top = HEIGHT
  return (
    <>
      {ENDINGS.map((ending) => {
        const height = of.of[ending] * of.scale
        top -= height
        return height === 0 ? null : (
          <rect key={ending} class={ending} x={of.at + 0.1} y={top} width={0.8} height={height} />
        )
      })}
    </>
  )
}

function totalOf(column: Readonly<Record<Ending, number>>): number {
  return ENDINGS.reduce((sum, ending) => sum + column[ending], 0)
}
