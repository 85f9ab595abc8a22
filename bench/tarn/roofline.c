/* SPDX-License-Identifier: Apache-2.0 */
/* The roofline picture: arithmetic intensity against speed, both logarithmic, as SVG. Points are
 * numbered, and a list beside the plot says what the numbers mean. */
#include "bench.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LEFT = 70, TOP = 50, WIDE = 700, HIGH = 640, LIST = 800, COLUMN = 270, ROWS = 46, ROW = 14 };
enum { WIDTH = 1350, HEIGHT = 750, PLACES = 32 };

struct box {
    double x, y, w, h;
};

struct plot {
    FILE *file;
    double x0, x1, y0, y1; /* powers of ten */
    double peak;           /* GFLOP/s; 0: not measured */
    struct box taken[2 * MOST_ITEMS];
    int taken_count;
};

static const struct {
    const char *prefix, *colour;
} groups[] = { { "gemm/", "#4477aa" }, { "conv/", "#cc4433" },   { "reduce/", "#228833" },
               { "norm/", "#aa3377" }, { "memory/", "#777777" }, { "kernel/", "#e08214" },
               { "", "#000000" } };

static const char *colour_of(const struct item *i)
{
    int k = 0;
    while (strncmp(i->name, groups[k].prefix, strlen(groups[k].prefix)) != 0)
        k++;
    return groups[k].colour;
}

static bool has_point(const struct item *i)
{
    return i->error[0] == '\0' && i->flops > 0 && i->bytes > 0 && i->seconds > 0;
}

static double intensity(const struct item *i)
{
    return i->flops / i->bytes;
}

static double speed(const struct item *i)
{
    return 1e-9 * i->flops / i->seconds;
}

/* The larger of the figures of some name; 0 when there is none. */
static double best(const struct bench *b, const char *prefix, const char *end)
{
    double value = 0;
    for (int k = 0; k < b->count; k++) {
        const struct item *i = &b->items[k];
        if (i->error[0] == '\0' && strncmp(i->name, prefix, strlen(prefix)) == 0 &&
            strstr(i->name, end) != NULL)
            value = fmax(value, i->value);
    }
    return value;
}

/* ---- coordinates ---------------------------------------------------------------------------- */

static double at_x(const struct plot *p, double x)
{
    return LEFT + WIDE * (log10(x) - p->x0) / (p->x1 - p->x0);
}

static double at_y(const struct plot *p, double y)
{
    return TOP + HIGH * (p->y1 - log10(y)) / (p->y1 - p->y0);
}

static void set_ranges(struct plot *p, const struct bench *b)
{
    double x0 = 0.1, x1 = 100, y0 = 1, y1 = fmax(10, p->peak);
    for (int k = 0; k < b->count; k++) {
        const struct item *i = &b->items[k];
        if (!has_point(i))
            continue;
        x0 = fmin(x0, intensity(i));
        x1 = fmax(x1, intensity(i));
        y0 = fmin(y0, speed(i));
        y1 = fmax(y1, speed(i));
    }
    p->x0 = floor(log10(x0));
    p->x1 = ceil(log10(x1));
    p->y0 = floor(log10(y0));
    p->y1 = ceil(log10(1.2 * y1));
}

/* ---- drawing -------------------------------------------------------------------------------- */

static void escaped(FILE *f, const char *text)
{
    for (; *text != '\0'; text++) {
        const unsigned char c = (unsigned char)*text;
        if (c == '<' || c == '>' || c == '&')
            fprintf(f, "&#%d;", c);
        else
            fputc(c < 32 || c > 126 ? '?' : c, f);
    }
}

static void grid_line(const struct plot *p, bool vertical, double value, bool whole)
{
    const double x = vertical ? at_x(p, value) : LEFT, y = vertical ? TOP : at_y(p, value);
    fprintf(p->file, "<path d=\"M%.1f %.1f%c%d\" stroke=\"%s\"/>\n", x, y, vertical ? 'v' : 'h',
            vertical ? HIGH : WIDE, whole ? "#bbb" : "#eee");
    if (!whole)
        return;
    if (vertical)
        fprintf(p->file, "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\">%g</text>\n", x,
                TOP + HIGH + 18, value);
    else
        fprintf(p->file, "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%g</text>\n", LEFT - 6,
                y + 4, value);
}

static void axis(const struct plot *p, bool vertical)
{
    const double from = vertical ? p->x0 : p->y0, to = vertical ? p->x1 : p->y1;
    for (int whole = 0; whole < 2; whole++) /* the fainter lines lie below */
        for (double decade = from; decade <= to; decade++)
            for (int k = whole ? 1 : 2; k <= (whole ? 1 : 9) && (whole || decade < to); k++)
                grid_line(p, vertical, k * pow(10, decade), whole);
}

static void frame(const struct plot *p, const struct bench *b)
{
    char name[256];
    device_describe(b->device, name, sizeof name);
    fprintf(p->file,
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" "
            "font-family=\"sans-serif\" font-size=\"12\">\n<rect width=\"%d\" height=\"%d\" "
            "fill=\"white\"/>\n<text x=\"%d\" y=\"30\" font-size=\"16\" font-weight=\"bold\">",
            WIDTH, HEIGHT, WIDTH, HEIGHT, LEFT);
    escaped(p->file, name);
    fprintf(p->file, "</text>\n");
    axis(p, true);
    axis(p, false);
    fprintf(p->file,
            "<text x=\"%d\" y=\"%d\" text-anchor=\"middle\">operations a byte of memory that must "
            "be moved</text>\n<text transform=\"translate(18,%d) rotate(-90)\" "
            "text-anchor=\"middle\">GFLOP/s</text>\n",
            LEFT + WIDE / 2, TOP + HIGH + 40, TOP + HIGH / 2);
}

/* From the lower or left edge up to the peak, or to the edge. */
static void slope(struct plot *p, double bandwidth, const char *label, const char *colour)
{
    if (bandwidth <= 0)
        return;
    const double top = p->peak > 0 ? p->peak : pow(10, p->y1);
    const double x0 = fmax(pow(10, p->x0), pow(10, p->y0) / bandwidth);
    const double x1 = fmin(pow(10, p->x1), top / bandwidth);
    if (x0 >= x1)
        return;
    const double ax = at_x(p, x0), ay = at_y(p, x0 * bandwidth);
    const double bx = at_x(p, x1), by = at_y(p, x1 * bandwidth);
    fprintf(
        p->file,
        "<path d=\"M%.1f %.1fL%.1f %.1f\" stroke=\"%s\" stroke-width=\"2\"/>\n"
        "<text transform=\"translate(%.1f,%.1f) rotate(%.1f)\" fill=\"%s\">%s %.3g GB/s</text>\n",
        ax, ay, bx, by, colour, ax + 0.06 * (bx - ax), ay + 0.06 * (by - ay) - 6,
        atan2(by - ay, bx - ax) * 57.29578, colour, label, bandwidth);
}

/* From where the highest slope meets it. */
static void ceiling(struct plot *p, double bandwidth)
{
    if (p->peak <= 0)
        return;
    const double from = bandwidth > 0 ? fmax(pow(10, p->x0), p->peak / bandwidth) : pow(10, p->x0);
    fprintf(p->file,
            "<path d=\"M%.1f %.1fH%d\" stroke=\"black\" stroke-width=\"2\"/>\n"
            "<text x=\"%.1f\" y=\"%.1f\">multiply-add %.4g GFLOP/s</text>\n",
            at_x(p, from), at_y(p, p->peak), LEFT + WIDE, at_x(p, from) + 4, at_y(p, p->peak) - 6,
            p->peak);
}

/* ---- points --------------------------------------------------------------------------------- */

static bool is_free(const struct plot *p, const struct box *a)
{
    for (int k = 0; k < p->taken_count; k++) {
        const struct box *t = &p->taken[k];
        if (a->x < t->x + t->w && t->x < a->x + a->w && a->y < t->y + t->h && t->y < a->y + a->h)
            return false;
    }
    return true;
}

/* The first free place on growing circles; the last one tried when all are taken. */
static struct box place(const struct plot *p, double x, double y, double wide)
{
    struct box a = { 0, 0, wide, 9 };
    for (int k = 0; k < PLACES; k++) {
        const double angle = 0.785398 * k, radius = 9 + 7.0 * (k / 8);
        a.x = x + radius * cos(angle) - wide / 2;
        a.y = y - radius * sin(angle) - 4.5;
        if (is_free(p, &a))
            break;
    }
    return a;
}

static void dots(struct plot *p, const struct bench *b)
{
    for (int k = 0; k < b->count; k++) {
        const struct item *i = &b->items[k];
        if (!has_point(i))
            continue;
        const double x = at_x(p, intensity(i)), y = at_y(p, speed(i));
        p->taken[p->taken_count++] = (struct box){ x - 3, y - 3, 6, 6 };
        fprintf(p->file,
                "<circle cx=\"%.1f\" cy=\"%.1f\" r=\"3\" fill=\"%s\" stroke=\"white\" "
                "stroke-width=\"0.5\"/>\n",
                x, y, colour_of(i));
    }
}

/* Splits a name into a point's label and its meaning: kernels have a label of their own, "k3". */
static const char *split_name(const struct item *i, int number, char *label, size_t capacity)
{
    static const char kernel[] = "kernel/";
    if (strncmp(i->name, kernel, sizeof kernel - 1) != 0) {
        snprintf(label, capacity, "%d", number);
        return i->name;
    }
    const char *name = i->name + sizeof kernel - 1;
    const size_t length = strcspn(name, " ");
    snprintf(label, capacity, "%.*s", (int)length, name);
    return name + length + (name[length] == ' ');
}

static void list_entry(const struct plot *p, const struct item *i, int row, const char *label,
                       const char *meaning)
{
    const int x = LIST + COLUMN * (row / ROWS), y = TOP + 10 + ROW * (row % ROWS);
    fprintf(p->file, "<text x=\"%d\" y=\"%d\" fill=\"%s\"><tspan font-weight=\"bold\">", x, y,
            colour_of(i));
    escaped(p->file, label);
    fprintf(p->file, "</tspan> ");
    escaped(p->file, meaning);
    fprintf(p->file, "</text>\n");
}

static void labels(struct plot *p, const struct bench *b)
{
    int number = 0;
    char label[16];
    fprintf(p->file, "<g font-size=\"10\">\n");
    for (int k = 0; k < b->count; k++) {
        const struct item *i = &b->items[k];
        if (!has_point(i))
            continue;
        const double x = at_x(p, intensity(i)), y = at_y(p, speed(i));
        const char *meaning = split_name(i, ++number, label, sizeof label);
        const struct box a = place(p, x, y, 6 * (double)strlen(label));
        p->taken[p->taken_count++] = a;
        const double away = hypot(a.x + a.w / 2 - x, a.y + 4.5 - y);
        if (away > 10) /* too far to be taken for its own without a line */
            fprintf(p->file,
                    "<path d=\"M%.1f %.1fL%.1f %.1f\" stroke=\"%s\" stroke-width=\"0.4\"/>\n", x, y,
                    a.x + a.w / 2, a.y + 4.5, colour_of(i));
        fprintf(p->file, "<text x=\"%.1f\" y=\"%.1f\" fill=\"%s\">", a.x, a.y + 8, colour_of(i));
        escaped(p->file, label);
        fprintf(p->file, "</text>\n");
        list_entry(p, i, number - 1, label, meaning);
    }
    fprintf(p->file, "</g>\n");
}

bool roofline_write(const struct bench *b, const char *path)
{
    static struct plot p;
    p = (struct plot){ .file = fopen(path, "w"), .peak = best(b, "fma/", "") };
    const double cache = best(b, "memory/", "cache"), dram = best(b, "memory/", "in memory");
    if (p.file != NULL) {
        set_ranges(&p, b);
        frame(&p, b);
        slope(&p, cache, "cache", "#b07000");
        slope(&p, dram, "memory", "black");
        ceiling(&p, fmax(cache, dram));
        dots(&p, b);
        labels(&p, b);
        fprintf(p.file, "</svg>\n");
    }
    if (p.file == NULL || (ferror(p.file) | fclose(p.file)) != 0) {
        (void)error_set(TARN_ERR_IO, "cannot write %s: %s", path, strerror(errno));
        return false;
    }
    return true;
}
