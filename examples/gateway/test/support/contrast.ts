import type { Locator } from '@scoregw/browser'

/** Contrast of two colours as WCAG 2 has it, between every pixel of a picture and the one in its corner; the highest. */
const HIGHEST = `async (png) => {
  const bitmap = await createImageBitmap(await (await fetch('data:image/png;base64,' + png)).blob())
  const context = new OffscreenCanvas(bitmap.width, bitmap.height).getContext('2d')
  context.drawImage(bitmap, 0, 0)
  const { data } = context.getImageData(0, 0, bitmap.width, bitmap.height)
  const linear = (value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4)
  const luminance = (at) =>
    0.2126 * linear(data[at] / 255) + 0.7152 * linear(data[at + 1] / 255) + 0.0722 * linear(data[at + 2] / 255)
  const contrast = (one, other) => (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05)
  const ground = luminance(0)
  let highest = 1
  for (let at = 0; at < data.length; at += 4) highest = Math.max(highest, contrast(luminance(at), ground))
  return highest
}`

/** How well something is seen as it is painted: the contrast of what is in it with what is behind it, 1 to 21. */
export async function contrastOf(control: Locator): Promise<number> {
  const png = (await control.screenshot({ animations: 'disabled' })).toString('base64')
  const blank = await control.page().context().newPage()
  try {
    return await blank.evaluate<number>(`(${HIGHEST})(${JSON.stringify(png)})`)
  } finally {
    await blank.close()
  }
}
