import type { JSX } from 'preact'

interface SwitchProps {
  readonly label: string
  readonly isOn: boolean
  onChange(isOn: boolean): void
}

export function Switch({ label, isOn, onChange }: SwitchProps): JSX.Element {
  return (
    <label class="switch">
      <input
        type="checkbox"
        role="switch"
        aria-checked={isOn}
        checked={isOn}
        onChange={(event) => onChange(event.currentTarget.checked)}
      />
      <span>{label}</span>
    </label>
  )
}
