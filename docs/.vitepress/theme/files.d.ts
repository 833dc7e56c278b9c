// What a bundler makes of a file that is imported for its effect.
declare module '*.css' {}
