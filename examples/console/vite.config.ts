import { defineConfig } from 'vite'

export default defineConfig({
  // Relative links: a proxy may put the console elsewhere.
  base: './',
  build: {
    target: 'es2023',
    // The content security policy allows files of the console's own, and no data addresses.
    assetsInlineLimit: 0,
    modulePreload: false,
    reportCompressedSize: false,
  },
})
