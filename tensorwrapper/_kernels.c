/* Loops over rows, masks, runs and strings that NumPy has no function for. Optional: the package works without them.

   Every function takes buffers that the caller has checked for type; sizes and places are checked here, so a
   wrong one is an error and no access outside. The limited API makes one build serve all later Pythons. */
#define Py_LIMITED_API 0x030B0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdint.h>
#include <string.h>

typedef Py_ssize_t size;

/* Of each type: its code as NumPy writes it, its C type, the type in which it is added. */
#define FLOATS(X) X(f4, float, float) X(f8, double, double)
#define INTEGERS(X)                                                                                                    \
    X(i1, int8_t, int64_t) X(i2, int16_t, int64_t) X(i4, int32_t, int64_t) X(i8, int64_t, int64_t)                     \
    X(u1, uint8_t, uint64_t) X(u2, uint16_t, uint64_t) X(u4, uint32_t, uint64_t) X(u8, uint64_t, uint64_t)             \
    X(b1, uint8_t, int64_t)
#define TYPES(X) FLOATS(X) INTEGERS(X)

enum { MOST = 16, FIRST = 24, MODES = 64 };

/* Any byte but 0 is true: memory that others wrote need not have 1. The compiler drops the choice. */
#define NUMBER(code, T, x) (#code[0] == 'b' ? (T)((x) != 0) : (T)(x))

/* Floats are added in the order of numpy.add.reduceat, so that the bits are the same: the first element, and
   the sum of the others by pairs of halves, eight sums side by side in blocks of 128. */
#define ADD_FLOATS(code, T, S)                                                                                         \
    static T pairs_##code(const T *a, size n) {                                                                        \
        if (n < 8) {                                                                                                   \
            T sum = (T)-0.0;                                                                                           \
            for (size k = 0; k < n; k++) sum += a[k];                                                                  \
            return sum;                                                                                                \
        }                                                                                                              \
        if (n <= 128) {                                                                                                \
            T r[8];                                                                                                    \
            size k = 8;                                                                                                \
            for (int j = 0; j < 8; j++) r[j] = a[j];                                                                   \
            for (; k < n - n % 8; k += 8)                                                                              \
                for (int j = 0; j < 8; j++) r[j] += a[k + j];                                                          \
            T sum = ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]));                                 \
            for (; k < n; k++) sum += a[k];                                                                            \
            return sum;                                                                                                \
        }                                                                                                              \
        size half = n / 2 - n / 2 % 8;                                                                                 \
        return pairs_##code(a, half) + pairs_##code(a + half, n - half);                                               \
    }                                                                                                                  \
    static T sum_##code(const T *a, size n) { return n > 1 ? a[0] + pairs_##code(a + 1, n - 1) : a[0]; }
#define ADD_INTEGERS(code, T, S)                                                                                       \
    static S sum_##code(const T *a, size n) {                                                                          \
        uint64_t sum = 0;                                                                                              \
        for (size k = 0; k < n; k++) sum += (uint64_t)NUMBER(code, S, a[k]);                                           \
        return (S)sum;                                                                                                 \
    }
FLOATS(ADD_FLOATS)
INTEGERS(ADD_INTEGERS)

#define IS_NAN(x) ((x) != (x))
/* The first of the greatest, or the first NaN, which no comparison finds. At the start of a row elements are often
   greater than all before, so a choice is faster than a branch that is guessed; later few are. */
#define EXTREME(name, code, T, better, not_better)                                                                     \
    static int64_t arg##name##_##code(const T *a, size n) {                                                            \
        T best = NUMBER(code, T, a[0]);                                                                                \
        size at = 0, k = 0;                                                                                            \
        for (const size first = n < FIRST ? n : FIRST; k < first; k++) {                                               \
            const T own = NUMBER(code, T, a[k]);                                                                       \
            if (IS_NAN(own)) return k;                                                                                 \
            at = own better best ? k : at, best = own better best ? own : best;                                        \
        }                                                                                                              \
        for (; k < n; k++) {                                                                                           \
            const T own = NUMBER(code, T, a[k]);                                                                       \
            if (!(own not_better best)) {                                                                              \
                if (IS_NAN(own)) return k;                                                                             \
                at = k, best = own;                                                                                    \
            }                                                                                                          \
        }                                                                                                              \
        return at;                                                                                                     \
    }                                                                                                                  \
    static T name##_##code(const T *a, size n) { return NUMBER(code, T, a[arg##name##_##code(a, n)]); }
#define EXTREMES(code, T, S) EXTREME(max, code, T, >, <=) EXTREME(min, code, T, <, >=)
TYPES(EXTREMES)

#define RUNNING(code, T, S)                                                                                            \
    static void run_##code(const T *a, S *out, size n) {                                                               \
        S sum = n ? NUMBER(code, S, a[0]) : 0;                                                                         \
        if (n) out[0] = sum;                                                                                           \
        for (size k = 1; k < n; k++) out[k] = sum = ADDED(sum, NUMBER(code, S, a[k]));                                 \
    }
#define ADDED(a, b) ((a) + (b))
FLOATS(RUNNING)
#undef ADDED
#define ADDED(a, b) ((int64_t)((uint64_t)(a) + (uint64_t)(b)))
INTEGERS(RUNNING)

/* Stable, NaN last: each pair is compared, and how many come before an element is its place. Nothing branches on
   elements, which pays for rows of at most MOST elements; longer ones are left to others. */
#define PAIRS(before_)                                                                                                 \
    for (size k = 1; k < n; k++)                                                                                       \
        for (size j = 0; j < k; j++) {                                                                                 \
            const int before = before_;                                                                                \
            places[k] += before, places[j] += !before;                                                                 \
        }
#define SORTS(code, T, S)                                                                                              \
    static void places_##code(const T *a, int32_t *places, size n) {                                                   \
        int lost = 0;                                                                                                  \
        for (size k = 0; k < n; k++) places[k] = 0, lost |= IS_NAN(a[k]);                                              \
        if (lost) {                                                                                                    \
            PAIRS(a[j] <= a[k] || IS_NAN(a[k]))                                                                        \
        } else {                                                                                                       \
            PAIRS(NUMBER(code, T, a[j]) <= NUMBER(code, T, a[k]))                                                      \
        }                                                                                                              \
    }                                                                                                                  \
    static void sort_##code(const T *a, T *out, size n) {                                                              \
        int32_t places[MOST];                                                                                          \
        places_##code(a, places, n);                                                                                   \
        for (size k = 0; k < n; k++) out[places[k]] = NUMBER(code, T, a[k]);                                           \
    }                                                                                                                  \
    static void argsort_##code(const T *a, int64_t *out, size n) {                                                     \
        int32_t places[MOST];                                                                                          \
        places_##code(a, places, n);                                                                                   \
        for (size k = 0; k < n; k++) out[places[k]] = k;                                                               \
    }
TYPES(SORTS)

/* ---------------------------------------------------------------------------------------------- functions */

static int is_code(const char *code, const char *own) { return !strcmp(code, own); }

#define IS_ALIGNED(p, T) ((uintptr_t)(p) % _Alignof(T) == 0)

/* Work on rows: code, values, splits, out, how many rows, and the bytes of values and of out. */
typedef const char *(*row_work)(const char *, const char *, const int64_t *, char *, size, size, size);

static PyObject *over_rows(PyObject *args, row_work work) {
    Py_buffer values, splits, out;
    const char *code, *wrong;
    if (!PyArg_ParseTuple(args, "sy*y*w*", &code, &values, &splits, &out)) return NULL;
    size rows = splits.len / 8 - 1;
    Py_BEGIN_ALLOW_THREADS
    if (rows < 0) wrong = "no splits";
    else if (!IS_ALIGNED(splits.buf, int64_t)) wrong = "splits are not aligned";
    else wrong = work(code, values.buf, splits.buf, out.buf, rows, values.len, out.len);
    Py_END_ALLOW_THREADS
    PyBuffer_Release(&values);
    PyBuffer_Release(&splits);
    PyBuffer_Release(&out);
    if (wrong) return PyErr_Format(PyExc_ValueError, "%s", wrong);
    Py_RETURN_NONE;
}

#define EACH(code_, T, S, O, per_row, line)                                                                            \
    if (is_code(code, #code_)) {                                                                                       \
        const T *a = (const T *)values;                                                                                \
        O *to = (O *)out;                                                                                              \
        const int64_t first = splits[0], last = splits[rows];                                                          \
        if (first < 0 || last > in / (size)sizeof(T)) return "splits leave the elements";                              \
        if (!IS_ALIGNED(a, T) || !IS_ALIGNED(to, O)) return "elements are not aligned";                                \
        if (room / (size)sizeof(O) < (per_row)) return "too little room for what comes out";                           \
        for (size r = 0; r < rows; r++) {                                                                              \
            const int64_t low = splits[r], high = splits[r + 1];                                                       \
            if (low < first || high < low || high > last) return "splits do not ascend";                               \
            const size n = high - low;                                                                                 \
            line;                                                                                                      \
        }                                                                                                              \
        return NULL;                                                                                                   \
    }
#define WORK(name)                                                                                                     \
    static const char *work_##name(const char *code, const char *values, const int64_t *splits, char *out, size rows,  \
                                   size in, size room) {
#define END                                                                                                            \
    return "elements of another type";                                                                                 \
    }
#define CALL(name)                                                                                                     \
    static PyObject *py_##name(PyObject *self, PyObject *args) { (void)self; return over_rows(args, work_##name); }

#define ADD(c, T, S) EACH(c, T, S, S, rows, if (n) to[r] = sum_##c(a + low, n))
#define MAX(c, T, S) EACH(c, T, S, T, rows, if (n) to[r] = max_##c(a + low, n))
#define MIN(c, T, S) EACH(c, T, S, T, rows, if (n) to[r] = min_##c(a + low, n))
#define ARGMAX(c, T, S) EACH(c, T, S, int64_t, rows, if (n) to[r] = argmax_##c(a + low, n))
#define ARGMIN(c, T, S) EACH(c, T, S, int64_t, rows, if (n) to[r] = argmin_##c(a + low, n))
#define RUN(c, T, S) EACH(c, T, S, S, last, run_##c(a + low, to + low, n))
#define SORT(c, T, S) EACH(c, T, S, T, last, if (n <= MOST) sort_##c(a + low, to + low, n))
#define ARGSORT(c, T, S) EACH(c, T, S, int64_t, last, if (n <= MOST) argsort_##c(a + low, to + low, n))
WORK(add) TYPES(ADD) END
WORK(maximum) TYPES(MAX) END
WORK(minimum) TYPES(MIN) END
WORK(argmax) TYPES(ARGMAX) END
WORK(argmin) TYPES(ARGMIN) END
WORK(add_running) TYPES(RUN) END
WORK(sort) TYPES(SORT) END
WORK(argsort) TYPES(ARGSORT) END
CALL(add) CALL(maximum) CALL(minimum) CALL(argmax) CALL(argmin) CALL(add_running) CALL(sort) CALL(argsort)

/* nonzero(mask, out): the places where a mask has no zero; `out` has room for all of them. */
static PyObject *py_nonzero(PyObject *self, PyObject *args) {
    Py_buffer mask, out;
    size done = 0;
    (void)self;
    if (!PyArg_ParseTuple(args, "y*w*", &mask, &out)) return NULL;
    Py_BEGIN_ALLOW_THREADS
    const unsigned char *own = mask.buf;
    int64_t *places = out.buf;
    const size room = IS_ALIGNED(places, int64_t) ? out.len / 8 : -1;
    for (size k = 0; k < mask.len && done < room; k++) places[done] = k, done += own[k] != 0;
    Py_END_ALLOW_THREADS
    PyBuffer_Release(&mask);
    const int is_odd = !IS_ALIGNED(out.buf, int64_t);
    PyBuffer_Release(&out);
    if (is_odd) return PyErr_Format(PyExc_ValueError, "the room for places is not aligned");
    return PyLong_FromSsize_t(done);
}

/* copy_runs(itemsize, values, starts, goals, stops, shift, out): run k of `values`, from starts[k] on, goes to places
   shift + goals[k] to shift + stops[k] of `out`. By bytes: text and records of eight bytes may begin at any address. */
#define COPY(bytes)                                                                                                    \
    if (step == (bytes)) {                                                                                             \
        for (size r = 0; r < rows; r++) {                                                                              \
            const size n = stops[r] - goals[r];                                                                        \
            if (!n) continue;                                                                                          \
            const char *from = values + starts[r] * (bytes);                                                           \
            char *to = out + (goals[r] + shift) * (bytes);                                                             \
            if (n > 16) memcpy(to, from, n * (bytes));                                                                 \
            else for (size k = 0; k < n; k++) memcpy(to + k * (bytes), from + k * (bytes), (bytes));                   \
        }                                                                                                              \
        return;                                                                                                        \
    }
static void copy_runs(const char *values, const int64_t *starts, const int64_t *goals, const int64_t *stops, char *out,
                      size step, size rows, size shift) {
    COPY(1) COPY(2) COPY(4) COPY(8)
    for (size r = 0; r < rows; r++)
        if (stops[r] != goals[r])
            memcpy(out + (goals[r] + shift) * step, values + starts[r] * step, (stops[r] - goals[r]) * step);
}
static PyObject *py_copy_runs(PyObject *self, PyObject *args) {
    Py_buffer values, starts, goals, stops, out;
    size step, shift;
    const char *wrong = "as many starts, goals and stops as runs";
    (void)self;
    if (!PyArg_ParseTuple(args, "ny*y*y*y*nw*", &step, &values, &starts, &goals, &stops, &shift, &out)) return NULL;
    Py_BEGIN_ALLOW_THREADS
    const int64_t *from = starts.buf, *to = goals.buf, *end = stops.buf;
    if (!IS_ALIGNED(from, int64_t) || !IS_ALIGNED(to, int64_t) || !IS_ALIGNED(end, int64_t)) {
        wrong = "starts, goals or stops are not aligned";
    } else if (step > 0 && starts.len == goals.len && starts.len == stops.len) {
        const size rows = starts.len / 8, count = values.len / step, room = out.len / step;
        wrong = shift > room || shift < -INT64_MAX / 2 ? "a shift beyond the elements" : NULL;
        for (size r = 0; r < rows && !wrong; r++)
            /* Empty runs may be anywhere. */
            if (end[r] != to[r] && (to[r] < -shift || end[r] < to[r] || end[r] > room - shift || from[r] < 0 ||
                                    from[r] > count - (end[r] - to[r])))
                wrong = "a run leaves the elements";
        if (!wrong) copy_runs(values.buf, from, to, end, out.buf, step, rows, shift);
    }
    Py_END_ALLOW_THREADS
    PyBuffer_Release(&values);
    PyBuffer_Release(&starts);
    PyBuffer_Release(&goals);
    PyBuffer_Release(&stops);
    PyBuffer_Release(&out);
    if (wrong) return PyErr_Format(PyExc_ValueError, "%s", wrong);
    Py_RETURN_NONE;
}

/* copy_boxes(itemsize, values, extents, starts, strides, goals, goal_strides, out): box k of `values`, which begins at
   starts[k] and has a row of `extents` and of `strides`, goes to goals[k] of `out` with the same row of goal_strides.
   Modes of one position are left out, and those that follow on are one. */
typedef struct { size rank; int64_t extents[MODES], from[MODES], to[MODES]; } modes;

static const char *reach(const int64_t *extents, const int64_t *strides, size rank, int64_t start, size count) {
    int64_t low = start, high = start;
    if (start < 0 || start >= count) return "a box leaves the elements";
    for (size m = 0; m < rank; m++) {
        if (extents[m] < 2 || !strides[m]) continue;
        if (strides[m] > count || strides[m] < -count || extents[m] - 1 > count) return "a box leaves the elements";
        /* Each factor is at most the number of elements; the quotient keeps their product below it. */
        const int64_t step = strides[m] < 0 ? -strides[m] : strides[m], last = extents[m] - 1;
        if (last > count / step) return "a box leaves the elements";
        if (strides[m] < 0) low -= last * step;
        else high += last * step;
        if (low < 0 || high >= count) return "a box leaves the elements";
    }
    return NULL;
}
static void join(modes *own, const int64_t *extents, const int64_t *from, const int64_t *to, size rank) {
    own->rank = 0;
    for (size m = rank; m-- > 0;) {
        const size last = own->rank - 1;
        if (extents[m] == 1) continue;
        if (own->rank && from[m] == own->from[last] * own->extents[last] && to[m] == own->to[last] * own->extents[last]) {
            own->extents[last] *= extents[m];
            continue;
        }
        own->extents[own->rank] = extents[m], own->from[own->rank] = from[m], own->to[own->rank] = to[m];
        own->rank++;
    }
}
/* The first mode of `modes` is the fastest. */
#define COPY_BOX(name, bytes)                                                                                          \
    static void copy_box_##name(const modes *own, size mode, const char *from, char *to, size step) {                  \
        const size n = mode < 0 ? 1 : own->extents[mode];                                                              \
        const size a = mode < 0 ? 1 : own->from[mode], b = mode < 0 ? 1 : own->to[mode];                               \
        (void)step;                                                                                                    \
        if (mode > 0)                                                                                                  \
            for (size k = 0; k < n; k++) copy_box_##name(own, mode - 1, from + k * a * (bytes), to + k * b * (bytes), step); \
        else if (a == 1 && b == 1 && n > 16) memcpy(to, from, n * (bytes));                                            \
        else                                                                                                           \
            for (size k = 0; k < n; k++) memcpy(to + k * b * (bytes), from + k * a * (bytes), (bytes));                \
    }
COPY_BOX(1, 1) COPY_BOX(2, 2) COPY_BOX(4, 4) COPY_BOX(8, 8) COPY_BOX(any, step)

static PyObject *py_copy_boxes(PyObject *self, PyObject *args) {
    Py_buffer values, extents, starts, strides, goals, goal_strides, out;
    size step;
    const char *wrong = "a row of extents and strides for each box, of few modes";
    (void)self;
    if (!PyArg_ParseTuple(args, "ny*y*y*y*y*y*w*", &step, &values, &extents, &starts, &strides, &goals, &goal_strides,
                          &out))
        return NULL;
    Py_BEGIN_ALLOW_THREADS
    const Py_buffer *tables[5] = {&extents, &starts, &strides, &goals, &goal_strides};
    const size boxes = starts.len / 8, rank = boxes ? extents.len / 8 / boxes : 0;
    int fits = step > 0 && rank <= MODES && goals.len == starts.len && strides.len == extents.len &&
               goal_strides.len == extents.len && extents.len == rank * boxes * 8;
    for (int k = 0; k < 5; k++) fits = fits && IS_ALIGNED(tables[k]->buf, int64_t);
    if (fits) {
        const int64_t *n = extents.buf, *a = strides.buf, *b = goal_strides.buf, *start = starts.buf, *goal = goals.buf;
        wrong = NULL;
        for (size k = 0; k < boxes && !wrong; k++) {
            const size row = k * rank;
            modes own;
            int is_empty = 0;
            for (size m = 0; m < rank; m++) is_empty |= n[row + m] < 1;
            if (is_empty) continue;
            wrong = reach(n + row, a + row, rank, start[k], values.len / step);
            if (!wrong) wrong = reach(n + row, b + row, rank, goal[k], out.len / step);
            /* Steps of 0 reach nowhere, however often they are taken. */
            for (size m = 0, room = out.len / step; m < rank && !wrong; room /= n[row + m++])
                if (n[row + m] > room) wrong = "a box has more elements than the room";
            if (wrong) break;
            join(&own, n + row, a + row, b + row, rank);
            const char *from = (const char *)values.buf + start[k] * step;
            char *to = (char *)out.buf + goal[k] * step;
            switch (step) {
            case 1: copy_box_1(&own, own.rank - 1, from, to, step); break;
            case 2: copy_box_2(&own, own.rank - 1, from, to, step); break;
            case 4: copy_box_4(&own, own.rank - 1, from, to, step); break;
            case 8: copy_box_8(&own, own.rank - 1, from, to, step); break;
            default: copy_box_any(&own, own.rank - 1, from, to, step);
            }
        }
    }
    Py_END_ALLOW_THREADS
    PyBuffer_Release(&values);
    PyBuffer_Release(&extents);
    PyBuffer_Release(&starts);
    PyBuffer_Release(&strides);
    PyBuffer_Release(&goals);
    PyBuffer_Release(&goal_strides);
    PyBuffer_Release(&out);
    if (wrong) return PyErr_Format(PyExc_ValueError, "%s", wrong);
    Py_RETURN_NONE;
}

/* copy_window(itemsize, values, starts, ends, first, out): fills `out` with the elements from `first` on of runs that
   follow each other. Run k begins at starts[k] of `values`, and is elements ends[k] to ends[k + 1]; one that begins
   before 0 is left out. */
static const char *copy_window(const char *values, size count, const int64_t *starts, const int64_t *ends, size rows,
                               int64_t first, char *out, size room, size step) {
    const char *wrong = "a run leaves the elements";
    size low = 0, high = rows;
    if (!room) return NULL;
    if (first < 0 || first > INT64_MAX - room) return wrong;
    while (high - low > 1) {
        const size middle = low + (high - low) / 2;
        if (ends[middle] <= first) low = middle;
        else high = middle;
    }
    for (int64_t at = first, last = first + room; at < last; low++) {
        /* Where ends do not ascend, nothing follows. */
        if (low >= rows || ends[low] > at || ends[low] < 0) return wrong;
        const int64_t stop = ends[low + 1] < last ? ends[low + 1] : last, begin = starts[low], before = at - ends[low];
        if (stop <= at) continue;
        if (begin >= 0) {
            if (begin > count - (stop - at) || before > count - (stop - at) - begin) return wrong;
            memcpy(out + (at - first) * step, values + (begin + before) * step, (stop - at) * step);
        }
        at = stop;
    }
    return NULL;
}
static PyObject *py_copy_window(PyObject *self, PyObject *args) {
    Py_buffer values, starts, ends, out;
    size step;
    long long first;
    const char *wrong = "one end more than starts, which are aligned";
    (void)self;
    if (!PyArg_ParseTuple(args, "ny*y*y*Lw*", &step, &values, &starts, &ends, &first, &out)) return NULL;
    if (step > 0 && ends.len == starts.len + 8 && IS_ALIGNED(starts.buf, int64_t) && IS_ALIGNED(ends.buf, int64_t)) {
        Py_BEGIN_ALLOW_THREADS
        wrong = copy_window(values.buf, values.len / step, starts.buf, ends.buf, starts.len / 8, first, out.buf,
                            out.len / step, step);
        Py_END_ALLOW_THREADS
    }
    PyBuffer_Release(&values);
    PyBuffer_Release(&starts);
    PyBuffer_Release(&ends);
    PyBuffer_Release(&out);
    if (wrong) return PyErr_Format(PyExc_ValueError, "%s", wrong);
    Py_RETURN_NONE;
}

/* compare(equal, data, starts, stops, data, starts, stops, out): -1, 0 or 1 for each pair of strings, by bytes. A side
   with one string has it for all pairs. Where only `equal` is asked, strings of two lengths are not looked at. */
typedef struct { Py_buffer data, starts, stops; } side;

static const char *check_side(const side *own, size pairs) {
    if (!IS_ALIGNED(own->starts.buf, int64_t) || !IS_ALIGNED(own->stops.buf, int64_t)) return "starts are not aligned";
    if (own->starts.len != own->stops.len) return "as many starts as stops";
    return own->starts.len / 8 == pairs || own->starts.len / 8 == 1 ? NULL : "as many starts as pairs, or one";
}
static const char *compare(int equal, const side *one, const side *other, signed char *out, size pairs) {
    const side *sides[2] = {one, other};
    for (size k = 0; k < pairs; k++) {
        const char *at[2];
        size length[2];
        for (int j = 0; j < 2; j++) {
            const side *own = sides[j];
            const size place = own->starts.len > 8 ? k : 0;
            const int64_t low = ((const int64_t *)own->starts.buf)[place], high = ((const int64_t *)own->stops.buf)[place];
            if (low < 0 || high < low || high > own->data.len) return "a string leaves the elements: starts, stops";
            at[j] = (const char *)own->data.buf + low, length[j] = high - low;
        }
        const int longer = (length[0] > length[1]) - (length[0] < length[1]);
        const size both = longer < 0 ? length[0] : length[1];
        const int order = !both || (equal && longer) ? 0 : memcmp(at[0], at[1], both);
        out[k] = order ? (order > 0) - (order < 0) : longer;
    }
    return NULL;
}
static PyObject *py_compare(PyObject *self, PyObject *args) {
    side one, other;
    Py_buffer out;
    int equal;
    const char *wrong;
    (void)self;
    if (!PyArg_ParseTuple(args, "py*y*y*y*y*y*w*", &equal, &one.data, &one.starts, &one.stops, &other.data,
                          &other.starts, &other.stops, &out))
        return NULL;
    Py_BEGIN_ALLOW_THREADS
    const size pairs = out.len;
    wrong = check_side(&one, pairs);
    if (!wrong) wrong = check_side(&other, pairs);
    if (!wrong) wrong = compare(equal, &one, &other, out.buf, pairs);
    Py_END_ALLOW_THREADS
    Py_buffer *all[] = {&one.data, &one.starts, &one.stops, &other.data, &other.starts, &other.stops, &out};
    for (int k = 0; k < 7; k++) PyBuffer_Release(all[k]);
    if (wrong) return PyErr_Format(PyExc_ValueError, "%s", wrong);
    Py_RETURN_NONE;
}

/* measure_lists(rows, lengths): how long each list or tuple is, and whether the elements are integers ("i8"), or floats
   and perhaps integers ("f8"); None if there are others, or none. Of plain types no code runs here. */
static size length_of(PyObject *row) {
    return PyList_CheckExact(row) ? PyList_Size(row) : PyTuple_CheckExact(row) ? PyTuple_Size(row) : -1;
}
static PyObject *item_of(PyObject *row, size k) {
    return PyList_CheckExact(row) ? PyList_GetItem(row, k) : PyTuple_GetItem(row, k);
}
static PyObject *py_measure_lists(PyObject *self, PyObject *args) {
    PyObject *rows;
    Py_buffer lengths;
    int is_float = 0, is_integer = 0;
    (void)self;
    if (!PyArg_ParseTuple(args, "O!w*", &PyList_Type, &rows, &lengths)) return NULL;
    const size count = PyList_Size(rows);
    if (lengths.len != 8 * count || !IS_ALIGNED(lengths.buf, int64_t)) {
        PyBuffer_Release(&lengths);
        return PyErr_Format(PyExc_ValueError, "as many lengths as rows, aligned");
    }
    for (size r = 0; r < count; r++) {
        PyObject *row = PyList_GetItem(rows, r);
        const size length = length_of(row);
        for (size k = 0; k < length; k++) {
            PyObject *item = item_of(row, k);
            if (PyFloat_CheckExact(item)) is_float = 1;
            else if (PyLong_CheckExact(item)) is_integer = 1;
            else goto others;
        }
        if (length < 0) goto others;
        ((int64_t *)lengths.buf)[r] = length;
    }
    PyBuffer_Release(&lengths);
    return Py_BuildValue("z", is_float ? "f8" : is_integer ? "i8" : NULL);
others:
    PyBuffer_Release(&lengths);
    Py_RETURN_NONE;
}

/* fill_lists(code, rows, lengths, out): write all elements of measured lists, and tell whether that was possible. It is
   not if an integer has more than 64 bits, or if another thread changed the lists meanwhile. */
static int fill_lists(int is_float, PyObject *rows, const int64_t *lengths, void *out, size room) {
    size place = 0;
    for (size r = 0; r < PyList_Size(rows); r++) {
        PyObject *row = PyList_GetItem(rows, r);
        const size length = length_of(row);
        if (length != lengths[r] || length > room - place) return 0;
        for (size k = 0; k < length; k++, place++) {
            PyObject *item = item_of(row, k);
            int overflow = 0;
            if (is_float && PyFloat_CheckExact(item)) {
                ((double *)out)[place] = PyFloat_AsDouble(item);
                continue;
            }
            if (!PyLong_CheckExact(item)) return 0;
            const int64_t number = PyLong_AsLongLongAndOverflow(item, &overflow);
            if (overflow) return 0;
            if (is_float) ((double *)out)[place] = (double)number;
            else ((int64_t *)out)[place] = number;
        }
    }
    return place == room;
}
static PyObject *py_fill_lists(PyObject *self, PyObject *args) {
    const char *code;
    PyObject *rows;
    Py_buffer lengths, out;
    int done = -1;
    (void)self;
    if (!PyArg_ParseTuple(args, "sO!y*w*", &code, &PyList_Type, &rows, &lengths, &out)) return NULL;
    if (IS_ALIGNED(lengths.buf, int64_t) && IS_ALIGNED(out.buf, int64_t) && lengths.len == 8 * PyList_Size(rows))
        done = fill_lists(code[0] == 'f', rows, lengths.buf, out.buf, out.len / 8);
    PyBuffer_Release(&lengths);
    PyBuffer_Release(&out);
    if (done < 0) return PyErr_Format(PyExc_ValueError, "as many lengths as rows, aligned");
    return PyBool_FromLong(done);
}

/* alike(file, starts, lengths, before, rows, texts, ends, plan, good, places, sizes): which records of a file have a
   header, and a label of these texts with a number between each two; and where their frames `wanted` begin, and their
   sizes. `before` is how many rows come before a record. The results may have more columns: the last are written. The
   file is not to be trusted. */
enum { HEADER = 32, LONG = 255, DIGITS = 18, PLAN = 6 };
typedef struct { int64_t own, frames, inner, word, most, version; int64_t wanted[]; } plan_of;
typedef struct { const unsigned char *file; size bytes; } file_of;
/* Headers of one length and version begin alike, up to their checksums: this is the CRC of the beginning. */
typedef struct { int64_t length; uint32_t crc; } begun;
enum { BEGINNING = 18, SUMMED = 28, REST = SUMMED - BEGINNING };
#ifdef __GNUC__
#define PREFETCH(at) __builtin_prefetch(at)
#else
#define PREFETCH(at) (void)(at)
#endif
enum { AHEAD = 8, NEAR = 4, LINE = 64 };

/* What a byte adds to a checksum, by how many bytes follow it. */
static uint32_t crc_tables[REST][256];
static void make_crc_tables(void) {
    for (uint32_t k = 0; k < 256; k++) {
        uint32_t c = k;
        for (int bit = 0; bit < 8; bit++) c = c & 1 ? 0xEDB88320u ^ (c >> 1) : c >> 1;
        crc_tables[0][k] = c;
    }
    for (int after = 1; after < REST; after++)
        for (int k = 0; k < 256; k++) {
            const uint32_t c = crc_tables[after - 1][k];
            crc_tables[after][k] = crc_tables[0][c & 0xFF] ^ (c >> 8);
        }
}
static uint64_t little(const unsigned char *at, int bytes) {
    uint64_t number = 0;
    for (int k = bytes - 1; k >= 0; k--) number = number << 8 | at[k];
    return number;
}
static uint32_t crc_of(uint32_t c, const unsigned char *at, int bytes) {
    for (int k = 0; k < bytes; k++) c = crc_tables[0][(c ^ at[k]) & 0xFF] ^ (c >> 8);
    return c;
}
/* Go on with the rest of a header: each byte by itself, so that none waits for the one before it. */
static uint32_t crc_of_rest(uint32_t c, const unsigned char *at) {
    uint32_t sum = 0;
    for (int k = 0; k < REST; k++) sum ^= crc_tables[REST - 1 - k][at[k] ^ (k < 4 ? c >> 8 * k & 0xFF : 0)];
    return sum;
}
static int is_header(const unsigned char *at, int64_t length, int64_t version, begun *last) {
    if (memcmp(at, "\x89TENS\r\n\x1a", 8) || little(at + 8, 8) != (uint64_t)length) return 0;
    if (little(at + 16, 2) != (uint64_t)version) return 0;
    if (last->length != length) *last = (begun){length, crc_of(0xFFFFFFFFu, at, BEGINNING)};
    return little(at + SUMMED, 4) == (crc_of_rest(last->crc, at + BEGINNING) ^ 0xFFFFFFFFu);
}
/* Return where a frame begins whose size is at `at`; -1 if it is not within `stop`. */
static size frame_at(file_of in, size at, size stop, int64_t *length) {
    if (at >= stop) return -1;
    *length = in.file[at++];
    if (*length == LONG) {
        if (stop - at < 4) return -1;
        *length = (int64_t)in.file[at] << 24 | in.file[at + 1] << 16 | in.file[at + 2] << 8 | in.file[at + 3];
        at += 4;
    }
    return *length <= stop - at ? at : -1;
}
/* Return the place after a number of JSON of at most 18 digits; -1 if there is none. */
static size number_at(file_of in, size at, int64_t *number) {
    const size first = at;
    if (in.bytes - at <= DIGITS) return -1;
    for (*number = 0; in.file[at] >= '0' && in.file[at] <= '9'; at++) {
        if (at - first == DIGITS) return -1;
        *number = *number * 10 + (in.file[at] - '0');
    }
    return at == first || (at - first > 1 && in.file[first] == '0') ? -1 : at;
}
typedef struct { int64_t start, length, before, rows; } record_of;
static int is_alike(file_of in, record_of record, const char *texts, const int64_t *ends, size pieces,
                    const plan_of *plan, size wanted, int64_t *places, int64_t *sizes, size step, begun *last) {
    const int64_t start = record.start, length = record.length, rows = record.rows;
    int64_t extent = 0, number = 0, bytes;
    if (rows <= 0 || length < 0 || length > plan->most || start < 0 || start > in.bytes - HEADER - length) return 0;
    if (!is_header(in.file + start, length, plan->version, last)) return 0;
    const size stop = start + HEADER + length;
    size at = frame_at(in, start + HEADER, stop, &bytes), end = at + bytes;
    for (size k = 0; k < pieces && at >= 0; k++) {
        const size begin = k ? ends[k - 1] : 0, n = ends[k] - begin;
        if (n > in.bytes - at || memcmp(in.file + at, texts + begin, n)) return 0;
        at += n;
        if (k == pieces - 1) break;
        at = number_at(in, at, &number);
        if (k == plan->own) extent = number;
    }
    if (at < 0 || at != end || number != record.before) return 0;
    for (int64_t frame = 1; frame < plan->frames; frame++) {
        at = frame_at(in, end, stop, &bytes);
        if (at < 0 || (frame == 1 && bytes != 24)) return 0;
        end = at + bytes;
        for (size k = 0; k < wanted; k++)
            if (plan->wanted[k] == frame) places[k * step] = at, sizes[k * step] = bytes;
    }
    if (end != stop || places[0] % plan->word) return 0;
    const int64_t unit = wanted > 1 ? plan->word : plan->inner * plan->word;
    if (sizes[0] % unit || sizes[0] / unit != extent || (wanted > 1 ? sizes[step] / 8 - 1 : extent) != rows) return 0;
    for (size k = 1; k < wanted; k++)
        if (places[k * step] % 8 || sizes[k * step] % 8 || !sizes[k * step]) return 0;
    return 1;
}
static PyObject *py_alike(PyObject *self, PyObject *args) {
    Py_buffer file, starts, lengths, before, rows, texts, ends, plan, good, places, sizes;
    int wrong = 1;
    (void)self;
    if (!PyArg_ParseTuple(args, "y*y*y*y*y*y*y*y*w*w*w*", &file, &starts, &lengths, &before, &rows, &texts, &ends, &plan,
                          &good, &places, &sizes))
        return NULL;
    if (!crc_tables[REST - 1][1]) make_crc_tables();
    Py_BEGIN_ALLOW_THREADS
    Py_buffer *numbers[] = {&starts, &lengths, &before, &rows, &ends, &plan, &places, &sizes};
    const size count = starts.len / 8, pieces = ends.len / 8, wanted = plan.len / 8 - PLAN;
    const int64_t *own = ends.buf;
    const plan_of *how = plan.buf;
    int right = good.len >= count && wanted > 0 && pieces > 0 && places.len == 8 * wanted * good.len;
    for (int k = 0; k < 4; k++) right = right && numbers[k]->len == 8 * count;
    for (int k = 0; k < 8; k++) right = right && IS_ALIGNED(numbers[k]->buf, int64_t);
    right = right && sizes.len == places.len && how->inner > 0 && how->word > 0 && how->inner <= INT64_MAX / how->word;
    for (size k = 0; k < pieces && right; k++) right = own[k] >= (k ? own[k - 1] : 0) && own[k] <= texts.len;
    if (right) {
        const file_of in = {file.buf, file.len};
        const size skipped = good.len - count;
        unsigned char *found = (unsigned char *)good.buf + skipped;
        int64_t *to = (int64_t *)places.buf + skipped, *much = (int64_t *)sizes.buf + skipped;
        begun last = {-1, 0};
        const int64_t *from = starts.buf, *bytes = lengths.buf, *after = before.buf, *extent = rows.buf;
        for (size r = 0; r < count; r++) {
            const record_of record = {from[r], bytes[r], after[r], extent[r]};
            /* Labels are far apart, so the wait for them takes longer than they do. */
            const int64_t later = r < count - AHEAD ? from[r + AHEAD] : -1;
            for (int k = 0; k < NEAR && later >= 0 && later < in.bytes - LINE * NEAR; k++)
                PREFETCH(in.file + later + LINE * k);
            found[r] = is_alike(in, record, texts.buf, own, pieces, how, wanted, to + r, much + r, good.len, &last);
        }
        wrong = 0;
    }
    Py_END_ALLOW_THREADS
    Py_buffer *all[] = {&file, &starts, &lengths, &before, &rows, &texts, &ends, &plan, &good, &places, &sizes};
    for (int k = 0; k < 11; k++) PyBuffer_Release(all[k]);
    if (wrong) return PyErr_Format(PyExc_ValueError, "as many places as records, and a plan");
    Py_RETURN_NONE;
}

/* mix(factor, shift, lanes, words): the checksum of blocks of words, each into its lane: multiply, add, and fold high
   bits to low ones. Words may be at any address. */
static PyObject *py_mix(PyObject *self, PyObject *args) {
    unsigned long long factor;
    int shift, wrong = 1;
    Py_buffer lanes, words;
    (void)self;
    if (!PyArg_ParseTuple(args, "Kiw*y*", &factor, &shift, &lanes, &words)) return NULL;
    if (IS_ALIGNED(lanes.buf, uint64_t) && lanes.len && shift > 0 && shift < 64 && words.len % lanes.len == 0) {
        Py_BEGIN_ALLOW_THREADS
        uint64_t *lane = lanes.buf;
        const char *from = words.buf;
        const size count = lanes.len / 8, blocks = words.len / lanes.len;
        for (size b = 0; b < blocks; b++, from += 8 * count)
            for (size k = 0; k < count; k++) {
                uint64_t word;
                memcpy(&word, from + 8 * k, 8);
                word += lane[k] * factor;
                lane[k] = word ^ (word >> shift);
            }
        Py_END_ALLOW_THREADS
        wrong = 0;
    }
    PyBuffer_Release(&lanes);
    PyBuffer_Release(&words);
    if (wrong) return PyErr_Format(PyExc_ValueError, "whole blocks of words, and a shift within one");
    Py_RETURN_NONE;
}

#define METHOD(name) {#name, py_##name, METH_VARARGS, NULL}
static PyMethodDef methods[] = {METHOD(add), METHOD(maximum), METHOD(minimum), METHOD(argmax), METHOD(argmin),
                                METHOD(add_running), METHOD(sort), METHOD(argsort), METHOD(nonzero),
                                METHOD(copy_runs), METHOD(copy_boxes), METHOD(copy_window), METHOD(compare),
                                METHOD(measure_lists), METHOD(fill_lists), METHOD(alike), METHOD(mix),
                                {NULL, NULL, 0, NULL}};
static PyModuleDef_Slot slots[] = {{0, NULL}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, "_kernels", NULL, 0, methods, slots, NULL, NULL, NULL};
PyMODINIT_FUNC PyInit__kernels(void) { return PyModuleDef_Init(&module); }
